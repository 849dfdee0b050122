/* SPDX-License-Identifier: MIT */
/** Metrics: what may be declared, what is counted where, and the text of it all. */
#include "runtime/worker/runtime.h"
#include "tests/unit/gate.h"
#include "tests/unit/openmetrics.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char *const colours[] = {"red", "a \"b\" \\ c\nd"};
static const uint64_t bounds[] = {1, 2000, 5000000000};

/* --- declarations --- */

static const redd_metric good = {
    .name = "t_good", .help = "Help.", .label = "colour", .values = colours, .n_values = 2};

static redd_extension with(const char *name, const redd_metric *metrics, size_t n)
{
    return (redd_extension){REDD_EXTENSION_HEAD, .name = name, .version = "1", .metrics = metrics,
                            .n_metrics = n};
}

/** Tries to add `x` to a runtime that has `first`, if any. */
static void assert_add(fixture *f, const redd_extension *first, const redd_extension *x, int code,
                       const char *sentence)
{
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    if (first)
        assert_int_equal(redd_runtime_add(f->rt, first), 0);
    assert_int_equal(redd_runtime_add(f->rt, x), code);
    assert_string_equal(redd_runtime_message(f->rt), sentence);
    redd_runtime_free(f->rt);
}

static void assert_fault(fixture *f, redd_metric metric, const char *fault)
{
    char sentence[256];
    redd_extension x = with("x", &metric, 1);
    (void)snprintf(sentence, sizeof(sentence), "metric \"%s\" of extension \"x\" %s",
                   metric.name ? metric.name : "", fault);
    assert_add(f, NULL, &x, UV_EINVAL, sentence);
}

/** `good` with one field changed. */
#define BUT(...)                                      \
    (redd_metric)                                     \
    {                                                 \
        .name = "t_bad", .help = "Help.", __VA_ARGS__ \
    }

static void malformed_names(void **state)
{
    static const char *const names[] = {NULL,    "",      "1t",   "t-x", "t x",
                                        "T_big", "t\xc3", "t{x}", "t:x", "t\n"};
    static const char *const suffixed[] = {"t_total", "t_count",  "t_sum",
                                           "t_info",  "t_bucket", "t_created"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_fault(*state, (redd_metric){.name = names[i], .help = "Help."},
                     "has a malformed name");
    for (size_t i = 0; i < sizeof(suffixed) / sizeof(suffixed[0]); i++)
        assert_fault(*state, (redd_metric){.name = suffixed[i], .help = "Help."},
                     "has a name with a suffix that is OpenMetrics' own");
}

static void malformed_units(void **state)
{
    static const char *const units[] = {"", "bad", "t_bad", "_bad", "ytes", "bytes", "BAD"};
    const char *fault = "has a name that does not end in its unit";
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i], "bad") != 0)
            assert_fault(*state, BUT(.unit = units[i]), fault);
    assert_fault(*state, (redd_metric){.name = "bytes", .help = "Help.", .unit = "bytes"}, fault);
    assert_fault(*state, (redd_metric){.name = "tbytes", .help = "Help.", .unit = "bytes"}, fault);
}

static void malformed_labels(void **state)
{
    static const char *const labels[] = {"", "le", "worker", "__x", "a b", "0", "A"};
    static const char *const same[] = {"a", "b", "a"}, *const missing[] = {"a", NULL},
                             *const empty[] = {"a", ""};
    const char *fault = "has no label for its values, or missing, empty or repeated values";
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
        assert_fault(*state, BUT(.label = labels[i], .values = colours, .n_values = 2),
                     "has a malformed label");
    assert_fault(*state, BUT(.label = "x"), fault);
    assert_fault(*state, BUT(.label = "x", .values = colours), fault);
    assert_fault(*state, BUT(.label = "x", .n_values = 2), fault);
    assert_fault(*state, BUT(.values = colours, .n_values = 2), fault);
    assert_fault(*state, BUT(.label = "x", .values = same, .n_values = 3), fault);
    assert_fault(*state, BUT(.label = "x", .values = missing, .n_values = 2), fault);
    assert_fault(*state, BUT(.label = "x", .values = empty, .n_values = 2), fault);
}

static void malformed_bounds(void **state)
{
    static const uint64_t falling[] = {1, 3, 2}, level[] = {1, 1};
    const char *fault =
        "has bounds and is no histogram, or is one whose bounds are missing or do not ascend";
    assert_fault(*state, BUT(.kind = REDD_METRIC_HISTOGRAM), fault);
    assert_fault(*state, BUT(.kind = REDD_METRIC_HISTOGRAM, .n_bounds = 1), fault);
    assert_fault(*state, BUT(.kind = REDD_METRIC_HISTOGRAM, .bounds = bounds), fault);
    assert_fault(*state, BUT(.kind = REDD_METRIC_HISTOGRAM, .bounds = falling, .n_bounds = 3),
                 fault);
    assert_fault(*state, BUT(.kind = REDD_METRIC_HISTOGRAM, .bounds = level, .n_bounds = 2), fault);
    assert_fault(*state, BUT(.bounds = bounds, .n_bounds = 3), fault);
    assert_fault(*state, BUT(.kind = REDD_METRIC_GAUGE, .bounds = bounds, .n_bounds = 3), fault);
}

static void malformed_others(void **state)
{
    const char *info = "is an info without a label, or with a unit or scale";
    assert_fault(*state, (redd_metric){.name = "t_bad"}, "has no help");
    assert_fault(*state, (redd_metric){.name = "t_bad", .help = ""}, "has no help");
    assert_fault(*state, BUT(.kind = (redd_metric_kind)4), "is of no known kind");
    assert_fault(*state, BUT(.kind = REDD_METRIC_INFO), info);
    assert_fault(
        *state,
        BUT(.kind = REDD_METRIC_INFO, .label = "x", .values = colours, .n_values = 2, .scale = 10),
        info);
    assert_fault(*state, BUT(.scale = 2), "has a scale that is no power of ten");
    assert_fault(*state, BUT(.scale = 1010), "has a scale that is no power of ten");
    redd_extension x = with("x", NULL, 2);
    assert_add(*state, NULL, &x, UV_EINVAL, "extension \"x\" counts 2 metrics, but points at none");
}

static void duplicates(void **state)
{
    fixture *f = *state;
    const redd_metric twice[] = {good, good};
    static const redd_metric own = {.name = "redd_tasks", .help = "Help."};
    static const redd_metric of_op = {.name = "redd_op_failed", .help = "Help."};
    redd_extension x = with("x", twice, 2), y = with("y", twice, 1), z = with("z", twice, 1);
    assert_add(f, NULL, &x, REDD_EDUPLICATE,
               "metric \"t_good\" of extension \"x\" is there already, in extension \"x\"");
    assert_add(f, &y, &z, REDD_EDUPLICATE,
               "metric \"t_good\" of extension \"z\" is there already, in extension \"y\"");
    x = with("x", &own, 1);
    assert_add(f, NULL, &x, REDD_EDUPLICATE,
               "metric \"redd_tasks\" of extension \"x\" is there already, in extension \"core\"");
    x = with("x", &of_op, 1);
    assert_add(f, NULL, &x, REDD_EDUPLICATE,
               "metric \"redd_op_failed\" of extension \"x\" is there already, in extension "
               "\"core\"");
}

/* --- text --- */

static const redd_metric kinds[] = {
    {.name = "t_plain", .help = "Plain."},
    {.name = "t_spent_seconds",
     .help = "With \"quotes\", a \\ and\na line.",
     .unit = "seconds",
     .scale = 1000},
    {.name = "t_level",
     .help = "Level.",
     .kind = REDD_METRIC_GAUGE,
     .label = "colour",
     .values = colours,
     .n_values = 2},
    {.name = "t_depth", .help = "Depth.", .kind = REDD_METRIC_GAUGE, .scale = 100},
    {.name = "t_size_bytes",
     .help = "Size.",
     .kind = REDD_METRIC_HISTOGRAM,
     .unit = "bytes",
     .label = "colour",
     .values = colours,
     .n_values = 2,
     .bounds = bounds,
     .n_bounds = 3,
     .scale = 1000},
    {.name = "t_each", .help = "Each.", .by_worker = true},
    {.name = "t_kind",
     .help = "Kind.",
     .kind = REDD_METRIC_INFO,
     .label = "colour",
     .values = colours,
     .n_values = 1},
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/** Up to the first metric that is not `kinds`'. */
static const char *const wanted =
    "# TYPE t_plain counter\n"
    "# HELP t_plain Plain.\n"
    "t_plain_total 18446744073709551615\n"
    "# TYPE t_spent_seconds counter\n"
    "# UNIT t_spent_seconds seconds\n"
    "# HELP t_spent_seconds With \\\"quotes\\\", a \\\\ and\\na line.\n"
    "t_spent_seconds_total 1.5\n"
    "# TYPE t_level gauge\n"
    "# HELP t_level Level.\n"
    "t_level{colour=\"red\"} -3\n"
    "t_level{colour=\"a \\\"b\\\" \\\\ c\\nd\"} 9223372036854775807\n"
    "# TYPE t_depth gauge\n"
    "# HELP t_depth Depth.\n"
    "t_depth -0.25\n"
    "# TYPE t_size_bytes histogram\n"
    "# UNIT t_size_bytes bytes\n"
    "# HELP t_size_bytes Size.\n"
    "t_size_bytes_bucket{colour=\"red\",le=\"0.001\"} 2\n"
    "t_size_bytes_bucket{colour=\"red\",le=\"2.0\"} 4\n"
    "t_size_bytes_bucket{colour=\"red\",le=\"5e+06\"} 5\n"
    "t_size_bytes_bucket{colour=\"red\",le=\"+Inf\"} 6\n"
    "t_size_bytes_count{colour=\"red\"} 6\n"
    "t_size_bytes_sum{colour=\"red\"} 5000004.005\n"
    "t_size_bytes_bucket{colour=\"a \\\"b\\\" \\\\ c\\nd\",le=\"0.001\"} 0\n"
    "t_size_bytes_bucket{colour=\"a \\\"b\\\" \\\\ c\\nd\",le=\"2.0\"} 0\n"
    "t_size_bytes_bucket{colour=\"a \\\"b\\\" \\\\ c\\nd\",le=\"5e+06\"} 0\n"
    "t_size_bytes_bucket{colour=\"a \\\"b\\\" \\\\ c\\nd\",le=\"+Inf\"} 0\n"
    "t_size_bytes_count{colour=\"a \\\"b\\\" \\\\ c\\nd\"} 0\n"
    "t_size_bytes_sum{colour=\"a \\\"b\\\" \\\\ c\\nd\"} 0\n"
    "# TYPE t_each counter\n"
    "# HELP t_each Each.\n"
    "t_each_total{worker=\"0\"} 7\n"
    "# TYPE t_kind info\n"
    "# HELP t_kind Kind.\n"
    "t_kind_info{colour=\"red\"} 1\n"
    "# EOF\n";

static void count_all(redd_worker *w)
{
    static const uint64_t sizes[] = {0, 1, 2, 2000, 2001, 5000000001};
    redd_metric_add(redd_worker_metric(w, "t_plain"), -1);
    redd_metric_add(redd_worker_metric(w, "t_spent_seconds"), 2000);
    redd_metric_add(redd_worker_metric(w, "t_spent_seconds"), -500);
    redd_metric_set(redd_worker_metric(w, "t_level"), -3);
    redd_metric_set(redd_worker_metric(w, "t_level") + 1, INT64_MAX);
    redd_metric_add(redd_worker_metric(w, "t_depth"), -25);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        redd_metric_observe(redd_worker_metric(w, "t_size_bytes"), &kinds[4], sizes[i]);
    redd_metric_add(redd_worker_metric(w, "t_each"), 7);
}

static void text(void **state)
{
    fixture *f = *state;
    redd_extension x = with("t", kinds, N_KINDS);
    redd_buffer out;
    redd_buffer_init(&out, f->options.allocator, 1 << 20);
    fixture_attach(f, &x);
    count_all(f->w);
    assert_int_equal(redd_buffer_append(&out, "before", 6), 0);
    assert_int_equal(redd_metrics_write(f->rt, &out), 0);
    assert_int_equal(redd_buffer_append(&out, "", 1), 0);
    assert_memory_equal(out.data, "before# TYPE redd_build info\n", 29);
    om_check(redd_slice_of(out.data + 6, out.len - 7));
    const char *own = strstr(out.data, "# TYPE t_plain ");
    assert_non_null(own);
    assert_string_equal(own, wanted);
    assert_true(redd_metric_sum(f->rt, "t_plain", 0) == UINT64_MAX);
    assert_int_equal((int64_t)redd_metric_sum(f->rt, "t_level", 0), -3);
    assert_true(redd_metric_sum(f->rt, "t_level", 1) == INT64_MAX);
    assert_int_equal(redd_metric_sum(f->rt, "t_size_bytes", 1), 2);
    redd_buffer_release(&out);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

static redd_slice scrape(fixture *f, redd_buffer *out)
{
    out->len = 0;
    assert_int_equal(redd_metrics_write(f->rt, out), 0);
    om_check(redd_buffer_slice(out));
    return redd_buffer_slice(out);
}

static void cells_lie_in_order(void **state)
{
    fixture *f = *state;
    redd_extension x = with("t", kinds, N_KINDS);
    fixture_attach(f, &x);
    const redd_metric_cell *first = redd_worker_metric(f->w, "t_plain");
    assert_ptr_equal(redd_worker_metric(f->w, "t_spent_seconds"), first + 1);
    assert_ptr_equal(redd_worker_metric(f->w, "t_level"), first + 2);
    assert_ptr_equal(redd_worker_metric(f->w, "t_depth"), first + 4);
    assert_ptr_equal(redd_worker_metric(f->w, "t_size_bytes"), first + 5);
    assert_ptr_equal(redd_worker_metric(f->w, "t_each"), first + 15);
    assert_int_equal((uintptr_t)f->rt->metrics.cells % 64, 0);
    assert_int_equal(f->rt->metrics.stride % 8, 0);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

/* --- the runtime's own --- */

static void own_metrics(void **state)
{
    fixture *f = *state;
    redd_buffer out;
    redd_future *sleep;
    redd_join *join;
    redd_buffer_init(&out, f->options.allocator, 1 << 20);
    f->options.workers = 3; /* an attached runtime has one, whatever its options say */
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    assert_int_equal(redd_runtime_seal(f->rt), 0);
    redd_slice page = scrape(f, &out);
    assert_true(om_value(page, "redd_workers") == 0);
    assert_true(om_value(page, "redd_tasks{worker=\"2\"}") == 0);
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &f->w), 0);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(redd_sleep_new(redd_worker_timers(f->w), 1000, &sleep), 0);
        assert_int_equal(redd_spawn(redd_worker_executor(f->w), sleep, &join), 0);
        redd_join_detach(join);
    }
    page = scrape(f, &out);
    assert_true(om_value(page, "redd_workers") == 1);
    assert_true(om_value(page, "redd_tasks{worker=\"0\"}") == 2);
    assert_true(om_lacks(page, "worker=\"1\""));
    assert_true(om_value(page, "redd_build_info{version=\"" REDD_VERSION "\"}") == 1);
    assert_true(om_lacks(page, "redd_op_"));
    f->done = 0;
    redd_worker_detach(f->w, REDD_STOP_FORCED, fixture_done, f);
    fixture_await_done(f);
    page = scrape(f, &out);
    assert_true(om_value(page, "redd_workers") == 0);
    assert_true(om_value(page, "redd_tasks{worker=\"0\"}") == 0);
    redd_buffer_release(&out);
    redd_runtime_free(f->rt);
}

static void process_metrics(void **state)
{
    fixture *f = *state;
    redd_buffer out;
    redd_buffer_init(&out, f->options.allocator, 1 << 20);
    fixture_attach(f, NULL);
    redd_slice page = scrape(f, &out);
    double cpu = om_value(page, "process_cpu_seconds_total");
    double started = om_value(page, "process_start_time_seconds");
    double fds = om_value(page, "process_open_fds");
    struct timespec now, spent;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    assert_true(started <= (double)now.tv_sec + 1 && started > (double)now.tv_sec - 3600);
    assert_true(om_value(page, "process_resident_memory_bytes") > 1 << 20);
    assert_true(om_value(page, "process_max_fds") >= fds);
    int more[2];
    assert_int_equal(pipe(more), 0);
    do
        assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent), 0);
    while ((double)spent.tv_sec + (double)spent.tv_nsec / 1e9 < cpu + 0.05);
    page = scrape(f, &out);
    assert_true(om_value(page, "process_cpu_seconds_total") > cpu);
    assert_true(om_value(page, "process_start_time_seconds") == started);
    assert_true(om_value(page, "process_open_fds") == fds + 2);
    (void)close(more[0]);
    (void)close(more[1]);
    redd_buffer_release(&out);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

/** With no descriptor left to look with, what is known stays, and all are in use. */
static void descriptors_out(void **state)
{
    fixture *f = *state;
    redd_buffer out;
    struct rlimit old, tight;
    redd_buffer_init(&out, f->options.allocator, 1 << 20);
    fixture_attach(f, NULL);
    double memory = om_value(scrape(f, &out), "process_resident_memory_bytes");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    int next = dup(0);
    assert_true(next > 0);
    (void)close(next);
    tight = (struct rlimit){(rlim_t)next, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    redd_slice page = scrape(f, &out);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_true(om_value(page, "process_open_fds") >= next); /* there may be higher ones */
    assert_true(om_value(page, "process_max_fds") == next);
    assert_true(om_value(page, "process_resident_memory_bytes") == memory);
    redd_buffer_release(&out);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

static void op_metrics(void **state)
{
    fixture *f = *state;
    redd_buffer out;
    redd_value value, argv[2];
    redd_op_call_id id;
    redd_buffer_init(&out, f->options.allocator, 1 << 20);
    f->options.op_metrics = true;
    gate *g = attach_gate(f);
    for (uint32_t i = 0; i < 5; i++) {
        argv[0] = redd_value_u32(i);
        (void)redd_op_call(f->w, redd_op_find(f->rt, "op_gate_at_once"), argv, 1, &value, NULL);
    }
    assert_int_equal(call_wait(f, 0, redd_value_error(UV_EIO), &id), REDD_OP_PARKED);
    redd_slice page = scrape(f, &out);
    assert_true(om_value(page, "redd_op_dispatched_total{op=\"op_gate_at_once\"}") == 5);
    assert_true(om_value(page, "redd_op_completed_total{op=\"op_gate_at_once\"}") == 2);
    assert_true(om_value(page, "redd_op_failed_total{op=\"op_gate_at_once\"}") == 3);
    assert_true(om_value(page, "redd_op_in_flight{op=\"op_gate_at_once\"}") == 0);
    assert_true(om_value(page, "redd_op_in_flight{op=\"op_gate_wait\"}") == 1);
    assert_true(om_value(page, "redd_op_seconds_total{op=\"op_gate_at_once\"}") > 0);
    assert_true(om_value(page, "redd_op_dispatched_total{op=\"op_sleep\"}") == 0);
    gate_open(g, 0);
    fixture_turn(f);
    fixture_turn(f);
    f->done = 0;
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, fixture_done, f);
    fixture_await_done(f);
    page = scrape(f, &out); /* the worker has ended: what it counted stays */
    assert_true(om_value(page, "redd_op_dispatched_total{op=\"op_gate_at_once\"}") == 5);
    assert_true(om_value(page, "redd_op_in_flight{op=\"op_gate_wait\"}") == 0);
    assert_true(om_value(page, "redd_op_failed_total{op=\"op_gate_wait\"}") == 1);
    redd_buffer_release(&out);
    redd_runtime_free(f->rt);
}

/* --- no memory --- */

static void write_fails(void **state)
{
    fixture *f = *state;
    redd_extension x = with("t", kinds, N_KINDS);
    redd_buffer out;
    fixture_attach(f, &x);
    redd_buffer_init(&out, f->options.allocator, 1 << 20);
    size_t len = scrape(f, &out).len - 40; /* some numbers may have less digits next time */
    redd_buffer_release(&out);
    for (size_t max = 7; max < len; max += 13) {
        redd_buffer_init(&out, f->options.allocator, max);
        assert_int_equal(redd_buffer_append(&out, "before", 6), 0);
        assert_int_equal(redd_metrics_write(f->rt, &out), REDD_ELIMIT);
        assert_int_equal(out.len, 6);
        assert_memory_equal(out.data, "before", 6);
        redd_buffer_release(&out);
    }
    int rc = UV_ENOMEM;
    for (uint64_t n = 1; rc; n++) {
        redd_buffer_init(&out, f->options.allocator, 1 << 20);
        redd_counting_allocator_fail_at(f->counting, n, false);
        rc = redd_metrics_write(f->rt, &out);
        assert_true(rc == 0 ? n > 2 : rc == UV_ENOMEM && out.len == 0);
        redd_buffer_release(&out);
    }
    redd_counting_allocator_fail_at(f->counting, 0, false);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

static void seal_fails(void **state)
{
    fixture *f = *state;
    redd_extension x = with("t", kinds, N_KINDS);
    f->options.op_metrics = true;
    int rc = UV_ENOMEM;
    for (uint64_t n = 1; rc; n++) {
        assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
        assert_int_equal(redd_runtime_add(f->rt, &x), 0);
        redd_counting_allocator_fail_at(f->counting, n, false);
        rc = redd_runtime_seal(f->rt);
        assert_true(rc == 0 ? n > 5 : rc == UV_ENOMEM);
        redd_counting_allocator_fail_at(f->counting, 0, false);
        redd_runtime_free(f->rt);
        assert_int_equal(fixture_memory(f).blocks, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(malformed_names),
        TEST(malformed_units),
        TEST(malformed_labels),
        TEST(malformed_bounds),
        TEST(malformed_others),
        TEST(duplicates),
        TEST(text),
        TEST(cells_lie_in_order),
        TEST(own_metrics),
        TEST(process_metrics),
        TEST(descriptors_out),
        TEST(op_metrics),
        TEST(write_fails),
        TEST(seal_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
