/* SPDX-License-Identifier: MIT */
/** Ops for guests: a thin layer over the C functions, in plain values. */
#ifndef REDD_HTTP_OPS_H
#define REDD_HTTP_OPS_H

#include <redd/http.h>

#define REDD__HTTP_N_OPS 13
extern const redd_op redd__http_ops[REDD__HTTP_N_OPS];

/* --- ops_server.c --- */

int redd__http_op_serve(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                        redd_future **pending);
int redd__http_op_server_port(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                              redd_future **pending);
int redd__http_op_next_request(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                               redd_future **pending);
int redd__http_op_close(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                        redd_future **pending);

/* --- ops_body.c --- */

int redd__http_op_read_body(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                            redd_future **pending);

#endif
