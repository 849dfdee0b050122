/* SPDX-License-Identifier: MIT */
/** Built for an ABI to come, whose struct is another one. */
#include <redd/extension.h>

static const redd_extension extension = {
    .struct_size = sizeof(redd_extension) + 8, .abi = REDD_ABI + 1, .name = "new"};
REDD_EXTENSION_ENTRY(extension)
