/* SPDX-License-Identifier: MIT */
/** Outputs on a stream that takes what a script says. */
#ifndef REDD_TESTS_OUTPUT_FIXTURE_H
#define REDD_TESTS_OUTPUT_FIXTURE_H

#include "tests/unit/net_fixture.h"

#include "ext/net/cork.h"
#include "ext/net/net.h"

enum { SINK_SIZE = 1 << 20, LARGE = 16 * 1024, EVERYTHING = 1 << 30 };

/** A stream that records what it takes. */
typedef struct sink {
    redd_stream base;
    int takes[64]; /* bytes per call, or an error; EVERYTHING once the script is over */
    size_t n_takes, calls;
    size_t slices; /* of the last call */
    size_t len;
    char data[SINK_SIZE];
} sink;

static inline int sink_write(redd_stream *s, const redd_slice *v, size_t nv, size_t *n)
{
    sink *k = (sink *)(void *)s;
    int take = k->calls < k->n_takes ? k->takes[k->calls] : EVERYTHING;
    k->calls++;
    k->slices = nv;
    if (take < 0) {
        if (take == UV_EAGAIN)
            s->ready &= (uint8_t)~REDD_STREAM_WRITE;
        return take;
    }
    size_t left = (size_t)take, total = 0;
    for (size_t i = 0; i < nv; i++) {
        assert_true(v[i].len > 0);
        size_t part = v[i].len < left ? v[i].len : left;
        assert_true(part <= SINK_SIZE - k->len);
        memcpy(k->data + k->len, v[i].data, part);
        k->len += part;
        *n += part;
        left -= part;
        total += v[i].len;
    }
    if (*n < total)
        s->ready &= (uint8_t)~REDD_STREAM_WRITE;
    return 0;
}

static const redd_stream_vt sink_vt = {.name = "sink", .write = sink_write};

static inline sink *sink_new(void)
{
    sink *k = calloc(1, sizeof(*k));
    assert_non_null(k);
    k->base = (redd_stream){.vt = &sink_vt, .ready = REDD_STREAM_WRITE};
    return k;
}

static inline void script(sink *k, const int *takes, size_t n)
{
    assert_true(n <= sizeof(k->takes) / sizeof(k->takes[0]));
    memcpy(k->takes, takes, n * sizeof(*takes));
    k->n_takes = n;
    k->calls = 0;
    k->len = 0;
    k->base.ready = REDD_STREAM_WRITE;
}
#define SCRIPT(k, ...) \
    script(k, (const int[]){__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int))

static inline void writable(sink *k)
{
    k->base.ready |= REDD_STREAM_WRITE;
}

static inline char pattern(size_t i)
{
    return (char)(i * 2654435761U >> 24);
}

static inline char *patterned(size_t from, size_t n)
{
    char *data = malloc(n ? n : 1);
    assert_non_null(data);
    for (size_t i = 0; i < n; i++)
        data[i] = pattern(from + i);
    return data;
}

/** Writes the next `n` bytes of the pattern. */
static inline int write_next(redd_output *o, size_t *at, size_t n)
{
    char *data = patterned(*at, n);
    int rc = redd_output_write(o, redd_slice_of(data, n));
    free(data); /* nothing may point at it any more */
    if (rc == 0)
        *at += n;
    return rc;
}

static inline void expect_pattern(const sink *k, size_t n)
{
    assert_int_equal(k->len, n);
    for (size_t i = 0; i < n; i++)
        assert_true(k->data[i] == pattern(i));
}

typedef struct bench {
    fixture f;
    sink *k, *k2;
    redd_output o, o2;
} bench;

static inline int setup(void **state)
{
    bench *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    fixture_begin(&b->f, 1, true);
    b->k = sink_new();
    b->k2 = sink_new();
    redd_output_init(&b->o, b->f.w, &b->k->base, 100000);
    redd_output_init(&b->o2, b->f.w, &b->k2->base, 100000);
    *state = b;
    return 0;
}

static inline int teardown(void **state)
{
    bench *b = *state;
    redd_output_fini(&b->o);
    redd_output_fini(&b->o2);
    fixture_end(&b->f);
    free(b->k);
    free(b->k2);
    free(b);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

#endif
