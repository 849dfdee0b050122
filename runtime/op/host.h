/* SPDX-License-Identifier: MIT */
/** Where this unit finds its part of a worker. */
#ifndef REDD_OP_HOST_H
#define REDD_OP_HOST_H

#include "runtime/op/ops.h"
#include "runtime/op/resources.h"

/** A redd_worker begins with this; what else it is, this unit does not know. */
typedef struct redd__op_host {
    redd__ops ops;
    redd__resources resources;
} redd__op_host;

static inline redd__op_host *redd__op_host_of(const redd_worker *w)
{
    return (redd__op_host *)(uintptr_t)w;
}

#endif
