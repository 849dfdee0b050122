/* SPDX-License-Identifier: MIT */
/** The resource table of one worker. */
#ifndef REDD_OP_RESOURCES_H
#define REDD_OP_RESOURCES_H

#include "runtime/base/slab.h"

#include <redd/resource.h>

typedef struct redd__resources {
    redd__slab slab; /* of redd_resource *, each with one reference */
} redd__resources;

void redd__resources_init(redd__resources *t, const redd_allocator *a);
/** Closes every resource, those that closing adds too. */
void redd__resources_close_all(redd__resources *t);
/** The table must be empty. */
void redd__resources_fini(redd__resources *t);

#endif
