/* SPDX-License-Identifier: MIT */
/** Nothing wrong with it. */
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
static const redd_extension extension = {REDD_EXTENSION_HEAD, .name = "good", .version = "1.9.3",
                                         .ops = ops, .n_ops = 1};
REDD_EXTENSION_ENTRY(extension)
