/* SPDX-License-Identifier: MIT */
/** Ops for guests: a thin layer over the C functions, in plain values. */
#ifndef REDD_HTTP_OPS_OPS_H
#define REDD_HTTP_OPS_OPS_H

#include <redd/http.h>

#define REDD__HTTP_N_OPS 43
extern const redd_op redd__http_ops[REDD__HTTP_N_OPS];

#define REDD__HTTP_OP(name)                                                                        \
    int redd__http_op_##name(redd_worker *w, void *state, const redd_value *argv, redd_value *out, \
                             redd_future **pending)

/* --- server.c --- */
REDD__HTTP_OP(serve);
REDD__HTTP_OP(serve_unix);
REDD__HTTP_OP(server_port);
REDD__HTTP_OP(next_request);
REDD__HTTP_OP(close);
REDD__HTTP_OP(wait);

/* --- request.c --- */
REDD__HTTP_OP(method);
REDD__HTTP_OP(url);
REDD__HTTP_OP(header);
REDD__HTTP_OP(headers);
REDD__HTTP_OP(trailers);
REDD__HTTP_OP(remote_addr);
REDD__HTTP_OP(client_addr);
REDD__HTTP_OP(id);
REDD__HTTP_OP(on_cancel);

/* --- body.c --- */
REDD__HTTP_OP(read_body);
REDD__HTTP_OP(read_full_body);
REDD__HTTP_OP(set_max_body);
REDD__HTTP_OP(decode_body);

/* --- response.c --- */
REDD__HTTP_OP(set_header);
REDD__HTTP_OP(set_headers);
REDD__HTTP_OP(set_trailer);
REDD__HTTP_OP(set_compression);
REDD__HTTP_OP(send_interim);
REDD__HTTP_OP(set_body);
REDD__HTTP_OP(start);
REDD__HTTP_OP(finish);
REDD__HTTP_OP(abort);

/* --- write.c --- */
REDD__HTTP_OP(write);

/* --- files.c --- */
REDD__HTTP_OP(files_open);
REDD__HTTP_OP(respond_file);

/* --- router.c --- */
REDD__HTTP_OP(router_new);
REDD__HTTP_OP(router_add);
REDD__HTTP_OP(router_match);
REDD__HTTP_OP(param);

/* --- events.c --- */
REDD__HTTP_OP(events_start);
REDD__HTTP_OP(events_send);

/* --- form.c --- */
REDD__HTTP_OP(form_read);
REDD__HTTP_OP(form_next_part);
REDD__HTTP_OP(form_part_filename);
REDD__HTTP_OP(form_part_type);
REDD__HTTP_OP(form_read_part);

#endif
