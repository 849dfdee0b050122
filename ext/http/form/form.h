/* SPDX-License-Identifier: MIT */
/** A form that is read: what it is told of the body, and what it tells of it. */
#ifndef REDD_HTTP_FORM_FORM_H
#define REDD_HTTP_FORM_FORM_H

#include "ext/http/form/multipart.h"
#include "ext/http/form/urlencoded.h"
#include "ext/http/request.h"

#include <redd/http_form.h>

typedef struct redd__http_form_kind {
    /** Parses a piece, up to its end or as far as the form is not halted, and moves *data past it.
     *  With `last` and nothing left to tell it sets `complete`. Returns 0 or what ends the form. */
    int (*feed)(redd_http_form *f, redd_slice *data, bool last);
} redd__http_form_kind;

struct redd_http_form {
    redd__http_watch watch; /* first */
    redd_http_request *req;
    redd_http_form_options options; /* limits that were 0 are filled in */
    const redd__http_form_kind *kind;

    redd_timer resume; /* goes on outside of redd_http_form_resume */
    bool paused;
    bool busy; /* in feed: who ends the request meanwhile must leave the form alone */
    bool over; /* its end is being told, or was */
    bool last; /* the body's last piece has come */
    bool complete;
    int status; /* with which the request ended while busy */

    /* What a pause has left of a piece. */
    char *kept;
    size_t kept_size, kept_from;

    redd_buffer text;    /* the head of a part, or a pair */
    uint64_t parts;      /* so far */
    uint64_t part_bytes; /* of the present one */
    uint64_t part_max;
    union {
        redd__http_multipart multipart;
        redd__http_urlencoded urlencoded;
    } parser;
};

extern const redd__http_form_kind redd__http_form_multipart, redd__http_form_urlencoded;

/** Parsing stops: a callback has paused the form or ended its request. */
static inline bool redd__http_form_halted(const redd_http_form *f)
{
    return f->paused || f->status != 0;
}

/** One more part begins. REDD_ELIMIT. */
int redd__http_form_count(redd_http_form *f);
/** Tell the caller. UV_ECANCELED when it refuses, REDD_ELIMIT. */
int redd__http_form_part(redd_http_form *f, const redd_http_part *part);
int redd__http_form_data(redd_http_form *f, redd_slice data, bool last);

#endif
