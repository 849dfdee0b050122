/* SPDX-License-Identifier: MIT */
/** Extensions from shared objects: one that loads, and every way to be refused. */
#include "tests/unit/worker_fixture.h"

#include <stdio.h>
#include <unistd.h>

#ifndef REDD_TEST_MODULES
#error "the folder of the modules of tests/modules"
#endif

static int load(fixture *f, const char *name)
{
    char path[1024];
    (void)snprintf(path, sizeof(path), "%s/%s", REDD_TEST_MODULES, name);
    return redd_runtime_load(f->rt, path);
}

static int setup(void **state)
{
    (void)fixture_setup(state);
    fixture *f = *state;
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    assert_int_equal(load(f, "good.so"), 0);
    return 0;
}

static int teardown(void **state)
{
    redd_runtime_free(((fixture *)*state)->rt);
    return fixture_teardown(state);
}

/** Refused, with this sentence, and nothing of it is left: the runtime works as before. */
static void assert_refused(fixture *f, const char *name, int code, const char *sentence)
{
    assert_int_equal(load(f, name), code);
    assert_string_equal(redd_runtime_message(f->rt), sentence);
    assert_string_equal(redd_runtime_extension(f->rt, 1)->name, "good");
    assert_null(redd_runtime_extension(f->rt, 2));
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &f->w), 0);
    redd_value out;
    assert_int_equal(redd_op_call(f->w, redd_op_find(f->rt, "op_good"), NULL, 0, &out, NULL), 0);
    assert_int_equal(out.as.i32, 42);
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, fixture_done, f);
    fixture_await_done(f);
}

static void loads(void **state)
{
    fixture *f = *state;
    assert_string_equal(redd_runtime_message(f->rt), "");
    assert_int_equal(redd_runtime_seal(f->rt), 0);
    const char *extension;
    assert_non_null(redd_op_info(f->rt, redd_op_find(f->rt, "op_good"), &extension));
    assert_string_equal(extension, "good");
    assert_int_equal(load(f, "ring_a.so"), REDD_ESEALED);
    assert_string_equal(redd_runtime_message(f->rt),
                        "the runtime has started and can no longer change");
}

static void abi_older(void **state)
{
    char sentence[128];
    (void)snprintf(sentence, sizeof(sentence), "abi_older.so wants ABI %d, this redd has %d",
                   REDD_ABI - 1, REDD_ABI);
    assert_refused(*state, "abi_older.so", REDD_EABI, sentence);
}

static void abi_newer(void **state)
{
    char sentence[128];
    (void)snprintf(sentence, sizeof(sentence), "abi_newer.so wants ABI %d, this redd has %d",
                   REDD_ABI + 1, REDD_ABI);
    assert_refused(*state, "abi_newer.so", REDD_EABI, sentence);
}

static void size_wrong(void **state)
{
    char sentence[128];
    (void)snprintf(sentence, sizeof(sentence),
                   "size_wrong.so describes itself in %zu bytes, this redd in %zu",
                   sizeof(redd_extension) - 8, sizeof(redd_extension));
    assert_refused(*state, "size_wrong.so", REDD_EABI, sentence);
}

static void no_symbol(void **state)
{
    assert_refused(*state, "no_symbol.so", REDD_ESYMBOL,
                   "no_symbol.so does not export redd_extension_entry");
}

static void op_twice(void **state)
{
    assert_refused(*state, "op_twice.so", REDD_EDUPLICATE,
                   "op \"op_good\" of extension \"copy\" is there already, in extension \"good\"");
}

static void extension_twice(void **state)
{
    assert_refused(*state, "good.so", REDD_EDUPLICATE,
                   "extension \"good\" 1.9.3 is there already, in version 1.9.3");
}

static void no_such_file(void **state)
{
    fixture *f = *state;
    assert_int_equal(redd_runtime_load(f->rt, "no/such/file.so"), UV_ENOENT);
    assert_string_equal(redd_runtime_message(f->rt),
                        "cannot load \"no/such/file.so\": no such file or directory");
    assert_int_equal(redd_runtime_load(f->rt, "libuv.so.1"), UV_ENOENT); /* not from the system */
    assert_string_equal(redd_runtime_message(f->rt),
                        "cannot load \"libuv.so.1\": no such file or directory");
    char path[5000];
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(redd_runtime_load(f->rt, path), UV_ENAMETOOLONG);
}

/** The system's own words follow. */
static void assert_unloadable(fixture *f, const char *path, const char *words)
{
    char begin[1024];
    (void)snprintf(begin, sizeof(begin), "cannot load %s: ", path);
    assert_int_equal(redd_runtime_load(f->rt, path), UV_EINVAL);
    const char *message = redd_runtime_message(f->rt);
    assert_int_equal(strncmp(message, begin, strlen(begin)), 0);
    assert_non_null(strstr(message, words));
}

static void no_shared_object(void **state)
{
    char path[] = "/tmp/redd-load-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
    (void)close(fd);
    assert_unloadable(*state, path, "");
    (void)unlink(path);
}

static void unresolved(void **state)
{
    assert_unloadable(*state, REDD_TEST_MODULES "/unresolved.so", "redd_from_the_future");
}

static void assert_unsealable(fixture *f, int code, const char *sentence)
{
    assert_int_equal(redd_runtime_seal(f->rt), code);
    assert_string_equal(redd_runtime_message(f->rt), sentence);
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &f->w), REDD_ESTATE);
    assert_string_equal(redd_runtime_message(f->rt),
                        "the runtime has failed and can only be freed");
}

static void dep_missing(void **state)
{
    fixture *f = *state;
    assert_int_equal(load(f, "dep_missing.so"), 0);
    assert_unsealable(f, REDD_EDEPENDENCY,
                      "extension \"lonely\" needs \"absent\", which is missing");
}

static void dep_old(void **state)
{
    fixture *f = *state;
    assert_int_equal(load(f, "dep_old.so"), 0);
    assert_unsealable(f, REDD_EDEPENDENCY,
                      "extension \"modern\" needs \"good\" 1.10 or later, but \"good\" is 1.9.3");
}

static void ring(void **state)
{
    fixture *f = *state;
    assert_int_equal(load(f, "ring_b.so"), 0);
    assert_int_equal(load(f, "ring_a.so"), 0);
    assert_unsealable(
        f, REDD_ECYCLE,
        "extensions need each other in a ring: \"ring_b\" needs \"ring_a\" needs \"ring_b\"");
}

/* --- an init that fails half way --- */

static char journal[64];

static void note(char c)
{
    size_t n = strlen(journal);
    assert_true(n + 1 < sizeof(journal));
    journal[n] = c;
    journal[n + 1] = '\0';
}

static int first_init(redd_runtime *rt, void **shared)
{
    (void)rt;
    *shared = journal;
    note('1');
    return 0;
}
static void first_fini(redd_runtime *rt, void *shared)
{
    (void)rt;
    assert_ptr_equal(shared, journal);
    note('a');
}
static int second_init(redd_runtime *rt, void **shared)
{
    (void)shared;
    /* Nothing can be added from here on. */
    assert_int_equal(redd_runtime_add(rt, redd_runtime_extension(rt, 0)), REDD_ESEALED);
    note('2');
    return 0;
}
static void second_fini(redd_runtime *rt, void *shared)
{
    (void)rt;
    assert_null(shared);
    note('b');
}
static int never_init(redd_runtime *rt, void **shared)
{
    (void)rt;
    (void)shared;
    note('!');
    return 0;
}

static const redd_extension first = {
    REDD_EXTENSION_HEAD, .name = "first",    .version = "1.0.0",
    .init = first_init,  .fini = first_fini,
};
static const redd_dependency on_first[] = {{"first", "1"}};
static const redd_extension second = {
    REDD_EXTENSION_HEAD, .name = "second",    .version = "1.0.0",  .deps = on_first,
    .n_deps = 1,         .init = second_init, .fini = second_fini,
};
static const redd_dependency on_faulty[] = {{"faulty", NULL}};
static const redd_extension never = {
    REDD_EXTENSION_HEAD, .name = "never", .version = "1.0.0",
    .deps = on_faulty,   .n_deps = 1,     .init = never_init,
};

static void init_fails(void **state)
{
    fixture *f = *state;
    journal[0] = '\0';
    assert_int_equal(redd_runtime_add(f->rt, &never), 0);
    assert_int_equal(load(f, "init_fails.so"), 0);
    assert_int_equal(redd_runtime_add(f->rt, &second), 0);
    assert_int_equal(redd_runtime_add(f->rt, &first), 0);
    assert_unsealable(f, UV_EADDRINUSE,
                      "extension \"faulty\" could not start: address already in use (EADDRINUSE)");
    assert_string_equal(journal, "12ba");
    redd_runtime_free(f->rt);
    f->rt = NULL;
    assert_string_equal(journal, "12ba"); /* no fini comes twice */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(loads),
        TEST(abi_older),
        TEST(abi_newer),
        TEST(size_wrong),
        TEST(no_symbol),
        TEST(op_twice),
        TEST(extension_twice),
        TEST(no_such_file),
        TEST(no_shared_object),
        TEST(unresolved),
        TEST(dep_missing),
        TEST(dep_old),
        TEST(ring),
        TEST(init_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
