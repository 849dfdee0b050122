/* SPDX-License-Identifier: MIT */
/** Options: from text to values, and the sentences for what is no value. */
#include "runtime/worker/settings.h"
#include "tests/unit/worker_fixture.h"

static const redd_option options[] = {
    {"t.size", "a size", REDD_UNIT_BYTES, 64U << 10, 1U << 10, 16U << 20},
    {"t.time", "a time", REDD_UNIT_MILLIS, 30000, 250, 3600000},
    {"t.count", "a number", REDD_UNIT_COUNT, 100, 0, 1000},
    {"t.any", "any number", REDD_UNIT_COUNT, 0, 0, UINT64_MAX},
    {"t.big", "any size", REDD_UNIT_BYTES, 0, 0, UINT64_MAX},
    {"t.switch", "a switch", REDD_UNIT_SWITCH, 1, 0, 1},
    {"t.text", "a text", REDD_UNIT_TEXT, 0, 0, 8},
    {"t.word", "a text that is not empty", REDD_UNIT_TEXT, 0, 2, 3},
};
enum { N_OPTIONS = sizeof(options) / sizeof(options[0]) };
static const redd_extension extension = {
    REDD_EXTENSION_HEAD, .name = "t", .version = "1", .options = options, .n_options = N_OPTIONS,
};

static int setup(void **state)
{
    (void)fixture_setup(state);
    fixture *f = *state;
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    assert_int_equal(redd_runtime_add(f->rt, &extension), 0);
    return 0;
}

static int teardown(void **state)
{
    redd_runtime_free(((fixture *)*state)->rt);
    return fixture_teardown(state);
}

static void defaults(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < N_OPTIONS; i++)
        assert_int_equal(redd_runtime_option(f->rt, options[i].name), options[i].default_value);
}

static void values(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *name, *text;
        uint64_t value;
    } cases[] = {
        {"t.size", "1024", 1024},
        {"t.size", "1k", 1024},
        {"t.size", "16m", 16U << 20},
        {"t.size", "0002k", 2048},
        {"t.time", "250ms", 250},
        {"t.time", "1", 1000},
        {"t.time", "30s", 30000},
        {"t.time", "2m", 120000},
        {"t.time", "1h", 3600000},
        {"t.count", "0", 0},
        {"t.count", "1000", 1000},
        {"t.switch", "off", 0},
        {"t.switch", "on", 1},
        {"t.big", "1g", 1U << 30},
        {"t.big", "17179869183g", 17179869183ULL << 30},
        {"t.any", "18446744073709551615", UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(redd_runtime_set(f->rt, cases[i].name, cases[i].text), 0);
        assert_true(redd_runtime_option(f->rt, cases[i].name) == cases[i].value);
    }
}

static void refused(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *name, *text;
    } cases[] = {
        {"t.size", "1023"},
        {"t.size", "17m"},
        {"t.size", ""},
        {"t.size", "k"},
        {"t.size", "64K"},
        {"t.size", "64kb"},
        {"t.size", "-1"},
        {"t.size", "+64k"},
        {"t.size", " 64k"},
        {"t.size", "64k "},
        {"t.size", "64 k"},
        {"t.size", "0x400"},
        {"t.size", "1.5m"},
        {"t.size", "30s"},
        {"t.time", "249ms"},
        {"t.time", "61m"},
        {"t.time", "1d"},
        {"t.time", "0"},
        {"t.count", "1001"},
        {"t.count", "1k"},
        {"t.count", "ten"},
        {"t.switch", "1"},
        {"t.switch", "ON"},
        {"t.switch", ""},
        {"t.any", "18446744073709551616"},
        {"t.big", "17179869184g"},
        {"t.text", "123456789"},
        {"t.word", ""},
        {"t.word", "1"},
        {"t.word", "1234"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t before = redd_runtime_option(f->rt, cases[i].name);
        assert_int_equal(redd_runtime_set(f->rt, cases[i].name, cases[i].text), REDD_EVALUE);
        assert_true(redd_runtime_option(f->rt, cases[i].name) == before);
    }
}

static void assert_sentence(fixture *f, const char *name, const char *text, int code,
                            const char *sentence)
{
    assert_int_equal(redd_runtime_set(f->rt, name, text), code);
    assert_string_equal(redd_runtime_message(f->rt), sentence);
}

static void sentences(void **state)
{
    fixture *f = *state;
    assert_sentence(f, "t.nothing", "1", REDD_EOPTION, "there is no option \"t.nothing\"");
    assert_sentence(
        f, "t.size", "64x", REDD_EVALUE,
        "option \"t.size\" cannot be \"64x\": expected a size from 1k to 16m, such as 64k");
    assert_sentence(f, "t.time", "0", REDD_EVALUE,
                    "option \"t.time\" cannot be \"0\": expected a time from 250ms to 1h, such as "
                    "250ms, 30s or 2m");
    assert_sentence(f, "t.count", "many", REDD_EVALUE,
                    "option \"t.count\" cannot be \"many\": expected a number from 0 to 1000");
    assert_sentence(f, "t.switch", "yes", REDD_EVALUE,
                    "option \"t.switch\" cannot be \"yes\": expected on or off");
    assert_sentence(f, "t.word", "long", REDD_EVALUE,
                    "option \"t.word\" cannot be \"long\": expected a text of 2 to 3 bytes");
    assert_sentence(f, "t.switch", "off", 0, "");
    assert_int_equal(redd_runtime_seal(f->rt), 0);
    assert_sentence(f, "t.switch", "on", REDD_ESEALED,
                    "the runtime has started and can no longer change");
    assert_int_equal(redd_runtime_option(f->rt, "t.switch"), 0);
}

/* --- texts --- */

static void assert_text(fixture *f, const char *name, const char *text)
{
    assert_string_equal(redd_runtime_option_text(f->rt, name), text);
    assert_int_equal(redd_runtime_option(f->rt, name), strlen(text));
}

static void texts(void **state)
{
    fixture *f = *state;
    static const char *const values[] = {"12345678", "a", "", " = \"\n", "64k", "\xff\x01", "off"};
    assert_text(f, "t.text", "");
    assert_text(f, "t.word", "");
    assert_string_equal(redd_runtime_option_text(f->rt, "t.switch"), "");
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        assert_int_equal(redd_runtime_set(f->rt, "t.text", values[i]), 0);
        assert_text(f, "t.text", values[i]);
        assert_text(f, "t.word", "");
    }
    assert_int_equal(redd_runtime_set(f->rt, "t.word", "ab"), 0);
    assert_int_equal(redd_runtime_set(f->rt, "t.word", "abcd"), REDD_EVALUE);
    assert_text(f, "t.word", "ab");
    assert_int_equal(redd_runtime_seal(f->rt), 0);
    assert_int_equal(redd_runtime_set(f->rt, "t.word", "xy"), REDD_ESEALED);
    assert_text(f, "t.word", "ab");
}

/** The text is the runtime's own: the caller's may go. */
static void texts_are_copied(void **state)
{
    fixture *f = *state;
    char text[] = "mine";
    assert_int_equal(redd_runtime_set(f->rt, "t.text", text), 0);
    memset(text, 'x', 4);
    assert_text(f, "t.text", "mine");
    assert_int_equal(redd_runtime_set(f->rt, "t.text", redd_runtime_option_text(f->rt, "t.text")),
                     0);
    assert_text(f, "t.text", "mine");
}

static void texts_without_memory(void **state)
{
    fixture *f = *state;
    assert_int_equal(redd_runtime_set(f->rt, "t.text", "before"), 0);
    uint64_t blocks = fixture_memory(f).blocks;
    redd_counting_allocator_fail_at(f->counting, 1, true);
    assert_sentence(f, "t.text", "after", UV_ENOMEM, "option \"t.text\": out of memory");
    assert_sentence(f, "t.word", "ab", UV_ENOMEM, "option \"t.word\": out of memory");
    assert_sentence(f, "t.count", "7", 0, "");
    redd_counting_allocator_fail_at(f->counting, 0, false);
    assert_text(f, "t.text", "before");
    assert_text(f, "t.word", "");
    assert_int_equal(fixture_memory(f).blocks, blocks);
}

static void malformed_texts(void **state)
{
    fixture *f = *state;
    static const redd_option wrong[] = {
        {"x.text", "help", REDD_UNIT_TEXT, 1, 0, 8},
        {"x.text", "help", REDD_UNIT_TEXT, 0, 8, 7},
        {"x.text", "help", (redd_unit)(REDD_UNIT_TEXT + 1), 0, 0, 8}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        redd_extension x = {REDD_EXTENSION_HEAD, .name = "x", .version = "1", .options = &wrong[i],
                            .n_options = 1};
        assert_int_equal(redd_runtime_add(f->rt, &x), UV_EINVAL);
        assert_string_equal(
            redd_runtime_message(f->rt),
            "option \"x.text\" of extension \"x\" has a wrong unit, range or default");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(defaults),
                                       TEST(values),
                                       TEST(refused),
                                       TEST(sentences),
                                       TEST(texts),
                                       TEST(texts_are_copied),
                                       TEST(texts_without_memory),
                                       TEST(malformed_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
