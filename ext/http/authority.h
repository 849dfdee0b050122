/* SPDX-License-Identifier: MIT */
/** Hosts, as they stand in Host, in targets and in what proxies say of them. */
#ifndef REDD_HTTP_AUTHORITY_H
#define REDD_HTTP_AUTHORITY_H

#include <redd/slice.h>

/** uri-host [":" port] (RFC 9110 7.2), not empty. */
bool redd__http_is_authority(redd_slice s);

#endif
