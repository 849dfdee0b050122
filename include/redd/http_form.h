/* SPDX-License-Identifier: MIT */
/** Forms in request bodies: multipart/form-data (RFC 7578) as a stream, and urlencoded ones. */
#ifndef REDD_HTTP_FORM_H
#define REDD_HTTP_FORM_H

#include <redd/http.h>

REDD_BEGIN_DECLS

typedef struct redd_http_form redd_http_form;

/** Valid during the call. */
typedef struct redd_http_part {
    redd_slice name;
    redd_slice filename; /* as it was sent: a name, never a path to open; data NULL: not a file */
    redd_slice type;     /* Content-Type; empty when there is none */
} redd_http_part;

typedef struct redd_http_form_options {
    uint32_t struct_size;
    uint64_t max_parts;     /* 0: 1,000 */
    uint64_t max_part_head; /* bytes of a part's fields; 0: 8 KiB */
    uint64_t max_field;     /* bytes of a part without a filename; 0: 1 MiB */
    uint64_t max_file;      /* bytes of a part with one; 0: the limit of the body */
    /** A part begins. Return false to refuse the form: it ends with UV_ECANCELED. */
    bool (*on_part)(redd_http_form *form, const redd_http_part *part, void *user);
    /** A piece of the present part, valid during the call; `last` with its last one, which may be
     *  empty. May pause the form. */
    bool (*on_data)(redd_http_form *form, redd_slice data, bool last, void *user);
    /** The last call. 0; REDD_EMALFORMED (not a form, cut, a bad boundary or part), REDD_ELIMIT, or
     *  as redd_http_read_fn. Nothing was answered but where redd_http_read says so. */
    void (*on_end)(redd_http_form *form, int status, void *user);
    void *user;
} redd_http_form_options;
#define REDD_HTTP_FORM_OPTIONS_INIT                   \
    {                                                 \
        .struct_size = sizeof(redd_http_form_options) \
    }

/** Reads the request's body as the form that its Content-Type says. No function is called inside
 * the call. Memory: at most a part's head, the boundary, and one urlencoded field. UV_ENOTSUP: the
 * body is no form, answer it with 415; UV_EINVAL: no or a bad boundary; REDD_ESTATE, REDD_ECLOSED,
 *  UV_ENOMEM. */
REDD_API int redd_http_form_read(redd_http_request *req, const redd_http_form_options *options,
                                 redd_http_form **out);
/** Nothing more is read or told until redd_http_form_resume. */
REDD_API void redd_http_form_pause(redd_http_form *form);
REDD_API void redd_http_form_resume(redd_http_form *form);
REDD_API redd_http_request *redd_http_form_request(redd_http_form *form);

REDD_END_DECLS

#endif
