/* SPDX-License-Identifier: MIT */
/* One op of each kind, with arguments of several kinds. */
#include <redd/extension.h>

static int nothing(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                   redd_future **pending)
{
    (void)w, (void)state, (void)argv, (void)out, (void)pending;
    return 0;
}

static const redd_op ops[] = {
    {sizeof(redd_op), REDD_OP_SYNC, 0, "op_kinds_sync", nothing, {{0}}},
    {sizeof(redd_op),
     REDD_OP_SYNC | REDD_OP_FAST,
     1,
     "op_kinds_fast",
     nothing,
     {{"n", REDD_ACCEPT(REDD_U32) | REDD_ACCEPT(REDD_I32)}}},
    {sizeof(redd_op),
     REDD_OP_ASYNC,
     2,
     "op_kinds_async",
     nothing,
     {{"what", REDD_ACCEPT_ANY}, {"data", REDD_ACCEPT(REDD_BYTES) | REDD_ACCEPT(REDD_STRING)}}},
    {sizeof(redd_op),
     REDD_OP_BLOCKING,
     1,
     "op_kinds_blocking",
     nothing,
     {{"path", REDD_ACCEPT(REDD_STRING)}}},
};

static const redd_option options[] = {
    {"kinds.bytes", "some bytes", REDD_UNIT_BYTES, 3 << 20, 0, 1 << 30},
    {"kinds.time", "some time", REDD_UNIT_MILLIS, 1500, 0, 3600000},
    {"kinds.count", "a count", REDD_UNIT_COUNT, 1024, 1, 5000},
    {"kinds.switch", "a switch", REDD_UNIT_SWITCH, 1, 0, 1},
    {"kinds.text", "a text", REDD_UNIT_TEXT, 0, 1, 8},
};

static const redd_dependency deps[] = {{"http", "0.1.0"}};

static const redd_extension kinds = {
    REDD_EXTENSION_HEAD,
    .name = "kinds",
    .version = "1.2.3",
    .deps = deps,
    .n_deps = 1,
    .ops = ops,
    .n_ops = sizeof(ops) / sizeof(ops[0]),
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
};

REDD_EXTENSION_ENTRY(kinds)
