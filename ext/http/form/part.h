/* SPDX-License-Identifier: MIT */
/** The head of a part (RFC 7578 4). */
#ifndef REDD_HTTP_FORM_PART_H
#define REDD_HTTP_FORM_PART_H

#include <redd/http_form.h>

/** Reads the field lines, each with its line end, whose escapes are undone in place. False for what
 * is no head of a part. */
bool redd__http_part_parse(char *head, size_t len, redd_http_part *out);

#endif
