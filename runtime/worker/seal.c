/* SPDX-License-Identifier: MIT */
/** The step from a set of extensions to a runtime that can no longer change. */
#include "runtime/worker/runtime.h"

#include <uv.h>

void redd__runtime_run_finis(redd_runtime *rt, size_t n)
{
    redd__extensions *e = &rt->extensions;
    while (n-- > 0)
        if (e->items[n]->fini)
            e->items[n]->fini(rt, e->shared[n]);
}

static int run_inits(redd_runtime *rt, redd__message *m)
{
    redd__extensions *e = &rt->extensions;
    for (size_t i = 0; i < e->n; i++) {
        int rc = e->items[i]->init ? e->items[i]->init(rt, &e->shared[i]) : 0;
        if (rc < 0) {
            redd__runtime_run_finis(rt, i);
            return redd__message_fail(m, rc, "extension \"%s\" could not start: %s (%s)",
                                      e->items[i]->name, redd_error_text(rc), redd_error_name(rc));
        }
    }
    return 0;
}

static int allocate(redd_runtime *rt, redd__message *m)
{
    redd__extensions *e = &rt->extensions;
    int rc = redd__registry_build(&rt->registry, rt->alloc, e->items, e->n);
    if (rc == 0) {
        e->shared = redd_alloc_zero(rt->alloc, e->n * sizeof(*e->shared));
        rc = e->shared ? 0 : UV_ENOMEM;
    }
    if (rc == 0)
        rc = redd__metrics_build(&rt->metrics, rt->alloc, e,
                                 rt->options.op_metrics ? &rt->registry : NULL, rt->n_workers);
    if (rc == 0)
        rc = redd__blocking_new(rt->alloc, rt->options.blocking_threads, rt->options.blocking_queue,
                                &rt->blocking);
    return rc < 0 ? redd__message_fail(m, rc, "%s", redd_error_text(rc)) : 0;
}

static int seal(redd_runtime *rt, redd__message *m)
{
    int rc = redd__extensions_sort(&rt->extensions, m);
    if (rc == 0)
        rc = allocate(rt, m);
    return rc < 0 ? rc : run_inits(rt, m);
}

int redd_runtime_seal(redd_runtime *rt)
{
    redd__message *m = redd__runtime_begin(rt);
    if (rt->state == REDD__RUNTIME_SEALED)
        return 0;
    if (rt->state == REDD__RUNTIME_FAILED)
        return redd__message_fail(m, REDD_ESTATE, "the runtime has failed and can only be freed");
    rt->state =
        REDD__RUNTIME_FAILED; /* until it is known better: an init must not add extensions */
    int rc = seal(rt, m);
    if (rc == 0)
        rt->state = REDD__RUNTIME_SEALED;
    else
        redd__registry_fini(&rt->registry); /* there are no ops to be found */
    return rc;
}
