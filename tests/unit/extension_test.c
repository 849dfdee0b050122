/* SPDX-License-Identifier: MIT */
/** Extensions that are linked in: refusals, versions, and the order in which they start. */
#include "runtime/worker/version.h"
#include "tests/unit/worker_fixture.h"

#include <stdio.h>

static int setup(void **state)
{
    (void)fixture_setup(state);
    fixture *f = *state;
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    return 0;
}

static int teardown(void **state)
{
    redd_runtime_free(((fixture *)*state)->rt);
    return fixture_teardown(state);
}

/** What a test adds must outlive it: the runtime goes in the teardown. */
static redd_extension a, b, c, d, e, x, y, z;

/** An extension with a name and what it needs. */
static redd_extension plain(const char *name, const redd_dependency *deps, size_t n)
{
    return (redd_extension){REDD_EXTENSION_HEAD, .name = name, .version = "1.0.0", .deps = deps,
                            .n_deps = n};
}

static void assert_add(fixture *f, const redd_extension *added, int code, const char *sentence)
{
    assert_int_equal(redd_runtime_add(f->rt, added), code);
    assert_string_equal(redd_runtime_message(f->rt), sentence);
}

/** The names in order, "core" left out: "a b c". */
static void assert_order(fixture *f, const char *names)
{
    char text[128] = "";
    const redd_extension *at;
    assert_string_equal(redd_runtime_extension(f->rt, 0)->name, "core");
    for (size_t i = 1; (at = redd_runtime_extension(f->rt, i)); i++) {
        size_t len = strlen(text);
        (void)snprintf(text + len, sizeof(text) - len, "%s%s", i > 1 ? " " : "", at->name);
    }
    assert_string_equal(text, names);
}

static int nothing(redd_worker *w, void *s, const redd_value *argv, redd_value *out,
                   redd_future **pending)
{
    (void)w;
    (void)s;
    (void)argv;
    (void)out;
    (void)pending;
    return 0;
}

static void malformed(void **state)
{
    fixture *f = *state;
    x = plain("x", NULL, 0);
    x.version = "1.x";
    assert_add(f, &x, UV_EINVAL, "extension \"x\" has the malformed version \"1.x\"");
    x.version = NULL;
    assert_add(f, &x, UV_EINVAL, "extension \"x\" has the malformed version \"\"");
    const redd_dependency deps[] = {{"y", "1..2"}};
    x = plain("x", deps, 1);
    assert_add(f, &x, UV_EINVAL, "extension \"x\" needs \"y\" in the malformed version \"1..2\"");
    x = plain("", NULL, 0);
    assert_int_equal(redd_runtime_add(f->rt, &x), UV_EINVAL);
    x = plain("x", NULL, 0);
    x.abi++;
    char sentence[64];
    (void)snprintf(sentence, sizeof(sentence), "x wants ABI %d, this redd has %d", REDD_ABI + 1,
                   REDD_ABI);
    assert_add(f, &x, REDD_EABI, sentence);
    assert_null(redd_runtime_extension(f->rt, 1));
}

static void null_where_there_must_be_something(void **state)
{
    fixture *f = *state;
    static const redd_dependency dep = {NULL, NULL};
    static const redd_op op = {sizeof(redd_op), REDD_OP_SYNC, 1, "op_x", nothing, {{NULL, 1}}};
    static const redd_option option = {NULL, "help", REDD_UNIT_COUNT, 1, 0, 5};
    static const redd_option helpless = {"x.o", NULL, REDD_UNIT_COUNT, 1, 0, 5};
    static const redd_guest_source source = {NULL, {NULL, 0}};
    assert_add(f, NULL, UV_EINVAL, "there is no extension to add");
    x = plain(NULL, NULL, 0);
    assert_add(f, &x, UV_EINVAL, "the extension has no name");
    x = plain("x", NULL, 1);
    assert_add(f, &x, UV_EINVAL, "extension \"x\" counts 1 dependencies, but points at none");
    x.deps = &dep;
    assert_add(f, &x, UV_EINVAL, "extension \"x\" has a dependency without a name");
    x = plain("x", NULL, 0);
    x.n_ops = 2;
    assert_add(f, &x, UV_EINVAL, "extension \"x\" counts 2 ops, but points at none");
    x.ops = &op;
    x.n_ops = 1;
    assert_add(f, &x, UV_EINVAL, "op \"op_x\" of extension \"x\" has an argument without a name");
    x = plain("x", NULL, 0);
    x.n_options = 1;
    assert_add(f, &x, UV_EINVAL, "extension \"x\" counts 1 options, but points at none");
    x.options = &option;
    assert_add(f, &x, UV_EINVAL, "extension \"x\" has an option without a name or a help");
    x.options = &helpless;
    assert_add(f, &x, UV_EINVAL, "extension \"x\" has an option without a name or a help");
    x = plain("x", NULL, 0);
    x.n_sources = 1;
    assert_add(f, &x, UV_EINVAL, "extension \"x\" counts 1 sources, but points at none");
    x.sources = &source;
    assert_add(f, &x, UV_EINVAL, "extension \"x\" has a source without a name");
    assert_null(redd_runtime_extension(f->rt, 1));
}

static void malformed_ops(void **state)
{
    fixture *f = *state;
    x = plain("x", NULL, 0);
    static redd_op op = {sizeof(redd_op), REDD_OP_SYNC, 0, "op_x", nothing, {{0}}};
    x.ops = &op;
    x.n_ops = 1;
    op.struct_size--;
    assert_int_equal(redd_runtime_add(f->rt, &x), REDD_EABI);
    op.struct_size++;
    op.name = NULL;
    assert_add(f, &x, UV_EINVAL, "extension \"x\" has an op without a name or a function");
    op.name = "op_x";
    op.argc = REDD_OP_MAX_ARGS + 1;
    static const char sentence[] =
        "op \"op_x\" of extension \"x\" has wrong flags or too many arguments";
    assert_add(f, &x, UV_EINVAL, sentence);
    op.argc = 0;
    static const uint16_t wrong[] = {0,
                                     REDD_OP_FAST,
                                     REDD_OP_SYNC | REDD_OP_ASYNC,
                                     REDD_OP_ASYNC | REDD_OP_FAST,
                                     REDD_OP_BLOCKING | REDD_OP_SYNC,
                                     16};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        op.flags = wrong[i];
        assert_add(f, &x, UV_EINVAL, sentence);
    }
    op.flags = REDD_OP_SYNC | REDD_OP_FAST;
    assert_add(f, &x, 0, "");
}

static void malformed_options(void **state)
{
    fixture *f = *state;
    static const redd_option wrong[] = {
        {"x.o", "no unit", (redd_unit)17, 1, 0, 2},
        {"x.o", "no unit", (redd_unit)-1, 1, 0, 2},
        {"x.o", "below", REDD_UNIT_BYTES, 0, 1, 2},
        {"x.o", "above", REDD_UNIT_COUNT, 3, 1, 2},
        {"x.o", "neither on nor off", REDD_UNIT_SWITCH, 2, 0, 2},
    };
    x = plain("x", NULL, 0);
    x.n_options = 1;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        x.options = &wrong[i];
        assert_add(f, &x, UV_EINVAL,
                   "option \"x.o\" of extension \"x\" has a wrong unit, range or default");
    }
}

static void duplicates(void **state)
{
    fixture *f = *state;
    static const redd_op ops[] = {
        {sizeof(redd_op), REDD_OP_SYNC, 0, "op_a", nothing, {{0}}},
        {sizeof(redd_op), REDD_OP_SYNC, 0, "op_b", nothing, {{0}}},
        {sizeof(redd_op), REDD_OP_SYNC, 0, "op_a", nothing, {{0}}},
        {sizeof(redd_op), REDD_OP_SYNC, 0, "op_close", nothing, {{0}}},
    };
    static const redd_option options[] = {
        {"x.size", "a size", REDD_UNIT_BYTES, 1, 1, 2},
        {"x.time", "a time", REDD_UNIT_MILLIS, 1, 1, 2},
        {"x.size", "a size", REDD_UNIT_BYTES, 1, 1, 2},
    };
    x = plain("x", NULL, 0);
    x.ops = ops;
    x.n_ops = 3;
    assert_add(f, &x, REDD_EDUPLICATE,
               "op \"op_a\" of extension \"x\" is there already, in extension \"x\"");
    x.ops = &ops[1];
    assert_add(f, &x, REDD_EDUPLICATE,
               "op \"op_close\" of extension \"x\" is there already, in extension \"core\"");
    x.n_ops = 1;
    x.options = options;
    x.n_options = 3;
    assert_add(f, &x, REDD_EDUPLICATE,
               "option \"x.size\" of extension \"x\" is there already, in extension \"x\"");
    x.n_options = 2;
    assert_add(f, &x, 0, "");
    y = plain("y", NULL, 0);
    y.options = &options[1];
    y.n_options = 1;
    assert_add(f, &y, REDD_EDUPLICATE,
               "option \"x.time\" of extension \"y\" is there already, in extension \"x\"");
    z = plain("x", NULL, 0);
    z.version = "2.0";
    assert_add(f, &z, REDD_EDUPLICATE, "extension \"x\" 2.0 is there already, in version 1.0.0");
    assert_order(f, "x");
}

static void order_of_addition_where_free(void **state)
{
    fixture *f = *state;
    static const redd_dependency on_c[] = {{"c", NULL}};
    static const redd_dependency on_a_d[] = {{"a", NULL}, {"d", NULL}};
    a = plain("a", on_c, 1);
    b = plain("b", NULL, 0);
    c = plain("c", NULL, 0);
    d = plain("d", on_c, 1);
    e = plain("e", on_a_d, 2);
    const redd_extension *const added[] = {&e, &d, &b, &a, &c};
    for (size_t i = 0; i < 5; i++)
        assert_add(f, added[i], 0, "");
    assert_order(f, "e d b a c");
    assert_int_equal(redd_runtime_seal(f->rt), 0);
    assert_order(f, "b c d a e");
    assert_int_equal(redd_runtime_seal(f->rt), 0); /* nothing more to do */
    assert_add(f, &a, REDD_ESEALED, "the runtime has started and can no longer change");
}

static void rings(void **state)
{
    fixture *f = *state;
    static const redd_dependency on_a[] = {{"a", NULL}}, on_b[] = {{"b", NULL}},
                                 on_c[] = {{"c", NULL}};
    d = plain("outside", on_a, 1);
    a = plain("a", on_b, 1);
    b = plain("b", on_c, 1);
    c = plain("c", on_a, 1);
    const redd_extension *const added[] = {&d, &a, &b, &c};
    for (size_t i = 0; i < 4; i++)
        assert_add(f, added[i], 0, "");
    assert_int_equal(redd_runtime_seal(f->rt), REDD_ECYCLE);
    assert_string_equal(
        redd_runtime_message(f->rt),
        "extensions need each other in a ring: \"a\" needs \"b\" needs \"c\" needs \"a\"");
}

static void ring_of_one(void **state)
{
    fixture *f = *state;
    static const redd_dependency on_a[] = {{"a", "1.0.0"}};
    a = plain("a", on_a, 1);
    assert_add(f, &a, 0, "");
    assert_int_equal(redd_runtime_seal(f->rt), REDD_ECYCLE);
    assert_string_equal(redd_runtime_message(f->rt),
                        "extensions need each other in a ring: \"a\" needs \"a\"");
}

static void many_ops(void **state)
{
    enum { N = 300 };
    static redd_op ops[N];
    static char names[N][16];
    fixture *f = *state;
    for (size_t i = 0; i < N; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "op_%zu", i);
        ops[i] = (redd_op){sizeof(redd_op), REDD_OP_SYNC, 0, names[i], nothing, {{0}}};
    }
    x = plain("x", NULL, 0);
    x.ops = ops;
    x.n_ops = N;
    assert_add(f, &x, 0, "");
    assert_int_equal(redd_runtime_seal(f->rt), 0);
    size_t core = redd_op_count(f->rt) - N;
    for (size_t i = 0; i < N; i++)
        assert_int_equal(redd_op_find(f->rt, names[i]), core + i + 1);
    assert_int_equal(redd_op_find(f->rt, "op_300"), 0);
}

static void versions(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int order;
    } cases[] = {
        {"1.2.3", "1.2.3", 0},    {"1.2", "1.2.0", 0},
        {"1.10", "1.9", 1},       {"2", "10", -1},
        {"1.2.3", "1.2.3.1", -1}, {"1.02", "1.2", 0},
        {"0.0.1", "0", 1},        {"99999999999999999999", "2", 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(redd__version_compare(cases[i].a, cases[i].b), cases[i].order);
        assert_int_equal(redd__version_compare(cases[i].b, cases[i].a), -cases[i].order);
    }
    static const char *const good[] = {"0", "1", "1.2", "10.20.30.40"};
    static const char *const bad[] = {"",    ".",  "1.", ".1", "1..2",
                                      "1.a", "v1", "1 ", "-1", "1.2-rc"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(redd__version_valid(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(redd__version_valid(bad[i]));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(malformed),     TEST(null_where_there_must_be_something),
        TEST(malformed_ops), TEST(malformed_options),
        TEST(duplicates),    TEST(order_of_addition_where_free),
        TEST(rings),         TEST(ring_of_one),
        TEST(many_ops),      cmocka_unit_test(versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
