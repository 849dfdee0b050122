/* SPDX-License-Identifier: MIT */
/** Its op has the name of one of good's. */
#include <redd/extension.h>

static int nothing(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                   redd_future **pending)
{
    (void)w;
    (void)state;
    (void)argv;
    (void)pending;
    *out = redd_value_i32(42);
    return 0;
}

static const redd_op ops[] = {{sizeof(redd_op), REDD_OP_SYNC, 0, "op_good", nothing, {{0}}}};
static const redd_extension extension = {REDD_EXTENSION_HEAD, .name = "copy", .version = "1.0.0",
                                         .ops = ops, .n_ops = 1};
REDD_EXTENSION_ENTRY(extension)
