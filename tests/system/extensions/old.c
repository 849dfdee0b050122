/* SPDX-License-Identifier: MIT */
/* Refused: built for another ABI. */
#include <redd/extension.h>

static const redd_extension old = {
    .struct_size = sizeof(redd_extension),
    .abi = REDD_ABI + 41,
    .name = "old",
    .version = "1.0.0",
};

REDD_EXTENSION_ENTRY(old)
