/* SPDX-License-Identifier: MIT */
/** An application for `redd serve`: one C file or shared object that exports a description of
 * itself. */
#ifndef REDD_APP_H
#define REDD_APP_H

#include <redd/http.h>

REDD_BEGIN_DECLS

/** Life cycle as in struct redd_extension; every function but `serve` may be NULL. */
typedef struct redd_app {
    uint32_t struct_size;
    uint32_t abi;
    const char *name; /* of the extension that the app becomes; NULL: "app" */
    /** Answers requests; `user` is this worker's state. */
    redd_http_handler_fn serve;
    int (*init)(redd_runtime *rt, void **shared);
    int (*worker_init)(redd_worker *w, void *shared, void **state);
    void (*worker_stop)(redd_worker *w, void *state, redd_stop_mode mode);
    void (*worker_fini)(redd_worker *w, void *state);
    void (*fini)(redd_runtime *rt, void *shared);
    const redd_metric *metrics; /* <redd/metrics.h> */
    size_t n_metrics;
} redd_app;

typedef const redd_app *(*redd_app_entry_fn)(void);
#define REDD_APP_ENTRY_SYMBOL "redd_app_entry"

/** The app's description, with the fields that it has: `REDD_APP(.serve = hello, .init = begin)`.
 */
#define REDD_APP(...)                                                       \
    REDD_API const redd_app *redd_app_entry(void);                          \
    const redd_app *redd_app_entry(void)                                    \
    {                                                                       \
        static const redd_app app = {                                       \
            .struct_size = sizeof(redd_app), .abi = REDD_ABI, __VA_ARGS__}; \
        return &app;                                                        \
    }

/** An app that is one handler without state: `REDD_SERVE(hello)`. */
#define REDD_SERVE(handler) REDD_APP(.serve = (handler))

REDD_END_DECLS

#endif
