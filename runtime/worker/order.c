/* SPDX-License-Identifier: MIT */
/** In which order extensions are initialised. */
#include "runtime/worker/extensions.h"
#include "runtime/worker/version.h"

#include <string.h>

static int check_dependency(const redd__extensions *e, const redd_extension *x,
                            const redd_dependency *dep, redd__message *m)
{
    size_t i = redd__extensions_find(e, dep->name);
    if (i == e->n)
        return redd__message_fail(m, REDD_EDEPENDENCY,
                                  "extension \"%s\" needs \"%s\", which is missing", x->name,
                                  dep->name);
    const char *version = e->items[i]->version;
    if (!dep->min_version || redd__version_compare(version, dep->min_version) >= 0)
        return 0;
    return redd__message_fail(m, REDD_EDEPENDENCY,
                              "extension \"%s\" needs \"%s\" %s or later, but \"%s\" is %s",
                              x->name, dep->name, dep->min_version, dep->name, version);
}

/** The first dependency of `x` that is not among the first `placed` extensions, or NULL. */
static const redd_dependency *unmet(const redd__extensions *e, size_t placed,
                                    const redd_extension *x)
{
    for (size_t i = 0; i < x->n_deps; i++)
        if (redd__extensions_find(e, x->deps[i].name) >= placed)
            return &x->deps[i];
    return NULL;
}

/** Every extension from `placed` on has an unmet dependency: following these, one comes back. */
static int report_ring(const redd__extensions *e, size_t placed, redd__message *m)
{
    size_t at = placed;
    for (size_t i = placed; i < e->n; i++) /* far enough to be on the ring */
        at = redd__extensions_find(e, unmet(e, placed, e->items[at])->name);
    size_t start = at;
    (void)redd__message_fail(m, REDD_ECYCLE, "extensions need each other in a ring: \"%s\"",
                             e->items[start]->name);
    do {
        const char *next = unmet(e, placed, e->items[at])->name;
        redd__message_append(m, " needs \"%s\"", next);
        at = redd__extensions_find(e, next);
    } while (at != start);
    return REDD_ECYCLE;
}

int redd__extensions_sort(redd__extensions *e, redd__message *m)
{
    for (size_t i = 0; i < e->n; i++)
        for (size_t k = 0; k < e->items[i]->n_deps; k++) {
            int rc = check_dependency(e, e->items[i], &e->items[i]->deps[k], m);
            if (rc < 0)
                return rc;
        }
    for (size_t placed = 0; placed < e->n; placed++) {
        size_t next = placed;
        while (next < e->n && unmet(e, placed, e->items[next]))
            next++;
        if (next == e->n)
            return report_ring(e, placed, m);
        const redd_extension *x = e->items[next];
        memmove(&e->items[placed + 1], &e->items[placed], (next - placed) * sizeof(*e->items));
        e->items[placed] = x;
    }
    return 0;
}
