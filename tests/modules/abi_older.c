/* SPDX-License-Identifier: MIT */
/** Built for the ABI before this one. */
#include <redd/extension.h>

static const redd_extension extension = {
    .struct_size = sizeof(redd_extension), .abi = REDD_ABI - 1, .name = "old", .version = "1.0.0"};
REDD_EXTENSION_ENTRY(extension)
