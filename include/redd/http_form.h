/* SPDX-License-Identifier: MIT */
/** Forms in request bodies: multipart/form-data (RFC 7578) as a stream, and urlencoded ones. */
#ifndef REDD_HTTP_FORM_H
#define REDD_HTTP_FORM_H

#include <redd/http.h>

REDD_BEGIN_DECLS

/** A form that is being read. Lives until its end function has run. Every function runs on the
 *  request's worker. */
typedef struct redd_http_form redd_http_form;

/** Valid during the call. Names are what the client's user sees: the escapes of browsers (%22, %0D,
 *  %0A) and of quoted strings are undone, urlencoded ones are decoded; they may hold any byte. */
typedef struct redd_http_part {
    redd_slice name;
    redd_slice filename; /* a name, never a path to open; data NULL: not a file */
    redd_slice type;     /* Content-Type; empty when there is none */
} redd_http_part;

typedef struct redd_http_form_options {
    uint32_t struct_size;
    uint64_t max_parts;     /* 0: 1,000 */
    uint64_t max_part_head; /* bytes of a part's fields, of a urlencoded name; 0: 8 KiB */
    uint64_t max_field;     /* bytes of a part without a filename; 0: 1 MiB */
    uint64_t max_file;      /* bytes of a part with one; 0: the limit of the body */
    /** A part begins. Return false to refuse the form: it ends with UV_ECANCELED. May be NULL. */
    bool (*on_part)(redd_http_form *form, const redd_http_part *part, void *user);
    /** A piece of the present part, valid during the call; `last` with its last one, which may be
     *  empty; a urlencoded value is one piece. False as for on_part. */
    bool (*on_data)(redd_http_form *form, redd_slice data, bool last, void *user);
    /** The last call, exactly once. 0: all of the body was read and is a form; REDD_EMALFORMED:
     *  cut, a bad boundary, part or escape; REDD_ELIMIT, UV_ENOMEM, or as redd_http_read_fn, with
     *  UV_ECANCELED also when the request ended before. Nothing was answered but where
     *  redd_http_read says so. */
    void (*on_end)(redd_http_form *form, int status, void *user);
    void *user;
} redd_http_form_options;
#define REDD_HTTP_FORM_OPTIONS_INIT                   \
    {                                                 \
        .struct_size = sizeof(redd_http_form_options) \
    }

/** Reads the request's body as the form that its Content-Type says, and holds the request until the
 *  end. Pull-based: the next piece of the body is asked for when the one before was told. Functions
 *  may pause the form, answer, or end the request from inside; none is called inside this call.
 *  Memory: at most a part's head, the boundary, and one urlencoded pair; while paused also what was
 *  left of a piece (64 KiB). What stands before the first boundary and behind the last is skipped,
 *  and a file's name in `filename*` ignored (RFC 7578 4.2).
 *
 *  UV_ENOTSUP: the body is no form, answer it with 415; UV_EINVAL: no or a bad boundary (RFC 2046
 *  5.1.1), a function missing or options of another size; REDD_ESTATE: it is read already,
 *  REDD_ECLOSED, UV_ENOMEM. */
REDD_API int redd_http_form_read(redd_http_request *req, const redd_http_form_options *options,
                                 redd_http_form **out);
/** Nothing more is read or told until redd_http_form_resume, the end apart that others bring about.
 */
REDD_API void redd_http_form_pause(redd_http_form *form);
/** Goes on in the loop's next turn. */
REDD_API void redd_http_form_resume(redd_http_form *form);
REDD_API redd_http_request *redd_http_form_request(redd_http_form *form);

REDD_END_DECLS

#endif
