/* SPDX-License-Identifier: MIT */
/** The right ABI, but not the struct that goes with it. */
#include <redd/extension.h>

static const redd_extension extension = {.struct_size = sizeof(redd_extension) - 8,
                                         .abi = REDD_ABI,
                                         .name = "small",
                                         .version = "1.0.0"};
REDD_EXTENSION_ENTRY(extension)
