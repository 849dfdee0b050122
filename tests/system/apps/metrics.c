/* SPDX-License-Identifier: MIT */
/* An app with metrics of its own, and with the server's at a path of its choice: /N answers with
 * status N, /metrics and /health are redd's handlers, all else is echoed. */
#include <redd/redd.h>

static const char *const kinds[] = {"status", "echo"};
static const redd_metric metrics[] = {
    {.name = "app_answers",
     .help = "Answers, by \"kind\".",
     .label = "kind",
     .values = kinds,
     .n_values = 2},
};

static int worker_init(redd_worker *w, void *shared, void **state)
{
    (void)shared;
    *state = redd_worker_metric(w, metrics[0].name);
    return 0;
}

static void echo(redd_http_request *req, int status, redd_slice body, bool last, void *user)
{
    (void)last;
    (void)user;
    if (status == 0)
        redd_http_respond(req, 200, NULL, 0, body);
}

static bool is_status(redd_slice path)
{
    return path.len == 4 && path.data[1] >= '2' && path.data[1] <= '5';
}

static void serve(redd_http_request *req, void *user)
{
    redd_metric_cell *answers = user;
    redd_slice path = redd_http_path(req);
    if (redd_slice_equal(path, redd_slice_str("/metrics"))) {
        redd_http_metrics_handler(req, NULL);
    } else if (redd_slice_equal(path, redd_slice_str("/health"))) {
        redd_http_health_handler(req, NULL);
    } else if (is_status(path)) {
        const char *d = path.data + 1;
        unsigned status = (unsigned)((d[0] - '0') * 100 + (d[1] - '0') * 10 + (d[2] - '0'));
        redd_metric_add(&answers[0], 1);
        redd_http_respond(req, status, NULL, 0, redd_slice_of(NULL, 0));
    } else {
        redd_metric_add(&answers[1], 1);
        redd_http_read_all(req, 1 << 20, echo, NULL);
    }
}

REDD_APP(.serve = serve, .worker_init = worker_init, .metrics = metrics, .n_metrics = 1)
