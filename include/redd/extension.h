/* SPDX-License-Identifier: MIT */
/** Extensions: sets of ops with state, options and a life cycle; linked in or loaded by path. */
#ifndef REDD_EXTENSION_H
#define REDD_EXTENSION_H

#include <redd/op.h>
#include <redd/version.h>

REDD_BEGIN_DECLS

typedef struct redd_dependency {
    const char *name;
    const char *min_version; /* "1.2.3", compared number by number; NULL: any */
} redd_dependency;

typedef enum redd_unit {
    REDD_UNIT_COUNT = 0,
    REDD_UNIT_BYTES,  /* "64k", "16m", "1g": powers of 1,024 */
    REDD_UNIT_MILLIS, /* "250ms", "30s", "2m", "1h"; a bare number is seconds */
    REDD_UNIT_SWITCH, /* "on", "off" */
    REDD_UNIT_TEXT    /* of `min` to `max` bytes; the default is "" */
} redd_unit;

/** A setting of the extension: `redd serve --set http.max_head=64k`. */
typedef struct redd_option {
    const char *name; /* "http.max_head" */
    const char *help; /* one phrase */
    redd_unit unit;
    uint64_t default_value, min, max;
} redd_option;

typedef struct redd_metric redd_metric; /* <redd/metrics.h> */

/** Source that a guest runs when it binds the extension. */
typedef struct redd_guest_source {
    const char *name; /* "ext:http/serve.js" */
    redd_slice text;
} redd_guest_source;

/** A constant. Every function may be NULL. */
struct redd_extension {
    uint32_t struct_size; /* sizeof(redd_extension) */
    uint32_t abi;         /* REDD_ABI */
    const char *name;
    const char *version;
    const redd_dependency *deps;
    size_t n_deps;
    const redd_op *ops;
    size_t n_ops;
    const redd_option *options;
    size_t n_options;
    const redd_guest_source *sources;
    size_t n_sources;
    const redd_metric *metrics;
    size_t n_metrics;
    /** Once, on the thread that seals the runtime, in the order of dependencies, before any worker.
     */
    int (*init)(redd_runtime *rt, void **shared);
    /** Once per worker, on its thread; `*state` is what redd_worker_state gives. An error stops the
     *  start: what was initialised before is taken down in reverse. */
    int (*worker_init)(redd_worker *w, void *shared, void **state);
    /** Stop accepting work and finish or drop what is in hand; in reverse order. May come twice,
     *  graceful first. The worker ends when its executor has no tasks left. */
    void (*worker_stop)(redd_worker *w, void *state, redd_stop_mode mode);
    /** After the worker's last task; in reverse order. */
    void (*worker_fini)(redd_worker *w, void *state);
    /** After the last worker; in reverse order. */
    void (*fini)(redd_runtime *rt, void *shared);
};

#define REDD_EXTENSION_HEAD sizeof(redd_extension), REDD_ABI

/** The one symbol of a loadable extension. */
typedef const redd_extension *(*redd_extension_entry_fn)(void);
#define REDD_EXTENSION_ENTRY_SYMBOL "redd_extension_entry"
/** Defines it: `REDD_EXTENSION_ENTRY(my_extension)`, at the end of the module's file. */
#define REDD_EXTENSION_ENTRY(extension)                        \
    REDD_API const redd_extension *redd_extension_entry(void); \
    const redd_extension *redd_extension_entry(void)           \
    {                                                          \
        return &(extension);                                   \
    }

REDD_END_DECLS

#endif
