/* SPDX-License-Identifier: MIT */
/** The parameters behind a field's value: `; name=value; name="value"` (RFC 9110 5.6.6). */
#ifndef REDD_HTTP_FORM_PARAMETERS_H
#define REDD_HTTP_FORM_PARAMETERS_H

#include <redd/slice.h>

typedef struct redd__http_parameter {
    redd_slice name;
    redd_slice value; /* without its quotes, its escapes as they were sent */
    bool quoted;
} redd__http_parameter;

typedef enum redd__http_parameter_result {
    REDD__HTTP_PARAMETER,
    REDD__HTTP_NO_PARAMETER,
    REDD__HTTP_BAD_PARAMETER
} redd__http_parameter_result;

/** Cuts what stands before the parameters off the front, without blanks around it. */
redd_slice redd__http_cut_value(redd_slice *rest);
/** Moves *rest past the parameter that it stores. */
redd__http_parameter_result redd__http_next_parameter(redd_slice *rest, redd__http_parameter *out);

#endif
