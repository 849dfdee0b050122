/* SPDX-License-Identifier: MIT */
/** What content codings cost: CPU time for a JSON body of 10 and of 100 KiB at each level, the
 *  median of five rounds, and what becomes of its size. With CODING SIZE RUNS, as in
 *  `http_coding_bench zstd 10240 100`, it codes that often at the default level, for callgrind. */
#include "ext/http/coding/decoding.h"
#include "ext/http/coding/encoders.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 5, MEDIAN = ROUNDS / 2, ROUND_BYTES = 4 << 20, LARGEST = 100 << 10, DEFAULT = 5 };

static char body[LARGEST];
static char coded[LARGEST];
static redd__http_encoders encoders;

static void must(bool condition)
{
    if (!condition) {
        (void)fprintf(stderr, "http_coding_bench: a coding failed\n");
        exit(1);
    }
}

static void fill(void)
{
    static const char *const words[] = {"river", "salmon", "delta", "harbor",
                                        "north", "meadow", "ember", "willow"};
    uint64_t x = 42;
    for (size_t n = 0; n < LARGEST;) {
        char line[160];
        x = x * 6364136223846793005U + 1442695040888963407U;
        int len = snprintf(line, sizeof line,
                           "{\"id\":%zu,\"name\":\"%s %s\",\"mail\":\"%s%u@example.com\","
                           "\"active\":%s,\"score\":%u.%02u,\"token\":\"%08x\"},",
                           n / 100, words[x >> 61], words[x >> 58 & 7], words[x >> 55 & 7],
                           (unsigned)(x >> 40 & 1023), x >> 39 & 1 ? "true" : "false",
                           (unsigned)(x >> 30 & 63), (unsigned)(x >> 24 & 63), (unsigned)x);
        size_t left = LARGEST - n, take = (size_t)len < left ? (size_t)len : left;
        memcpy(body + n, line, take);
        n += take;
    }
}

static size_t encode(redd__http_coding coding, unsigned level, size_t size)
{
    redd__http_encoder *e =
        redd__http_encoder_get(&encoders, redd_allocator_default(), coding, level);
    must(e != NULL);
    redd_slice in = redd_slice_of(body, size);
    redd__http_room room = {coded, size};
    must(redd__http_encode(e, &in, &room, REDD__HTTP_FLUSH_END) == REDD__HTTP_STEP_END);
    redd__http_encoder_put(&encoders, e);
    return size - room.len;
}

static void decode(redd__http_coding coding, size_t len)
{
    static char buffer[REDD__HTTP_DECODED_MAX];
    redd__http_decoding *d;
    redd_slice in = redd_slice_of(coded, len), out;
    must(redd__http_decoding_new(redd_allocator_default(), &coding, 1, UINT64_MAX, &d) == 0);
    int step;
    do
        step = redd__http_decoding_step(d, &in, buffer, &out);
    while (step == REDD__HTTP_STEP_ROOM);
    must(step == REDD__HTTP_STEP_END);
    redd__http_decoding_free(d);
}

static double cpu_seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Microseconds of one coding, or with level 0 of one decoding. */
static double measure(redd__http_coding coding, unsigned level, size_t size)
{
    double rounds[ROUNDS];
    size_t runs = ROUND_BYTES / size, len = encode(coding, level ? level : DEFAULT, size);
    for (int i = 0; i < ROUNDS; i++) {
        double start = cpu_seconds();
        for (size_t n = 0; n < runs; n++)
            if (level)
                (void)encode(coding, level, size);
            else
                decode(coding, len);
        rounds[i] = (cpu_seconds() - start) / (double)runs * 1e6;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, compare);
    return rounds[MEDIAN];
}

static void measure_coding(redd__http_coding coding, size_t size)
{
    const char *name = redd__http_codec_of(coding)->name.data;
    for (unsigned level = 1; level <= 9; level++) {
        double us = measure(coding, level, size);
        (void)printf("%-5s %6zu bytes, level %u: %6zu bytes %8.1f us %6.0f MB/s\n", name, size,
                     level, encode(coding, level, size), us, (double)size / us);
    }
    double us = measure(coding, 0, size);
    (void)printf("%-5s %6zu bytes, decoded:%15s %8.1f us %6.0f MB/s\n", name, size, "", us,
                 (double)size / us);
}

static int repeat(redd__http_coding coding, size_t size, long runs)
{
    const redd__http_codec *codec =
        coding < REDD__HTTP_CODINGS ? redd__http_codec_of(coding) : NULL;
    if (!codec || !codec->encoder || size == 0 || size > LARGEST) {
        (void)fprintf(stderr, "usage: http_coding_bench [CODING SIZE RUNS]\n");
        return 2;
    }
    while (runs-- > 0)
        (void)encode(coding, DEFAULT, size);
    return 0;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {10 << 10, 100 << 10};
    int rc = 0;
    fill();
    if (argc == 4)
        rc = repeat(redd__http_coding_named(redd_slice_str(argv[1])),
                    (size_t)strtoul(argv[2], NULL, 10), strtol(argv[3], NULL, 10));
    for (size_t i = 0; argc == 1 && i < sizeof sizes / sizeof *sizes; i++)
        for (int c = 0; c < REDD__HTTP_CODINGS; c++) {
            const redd__http_codec *codec = redd__http_codec_of((redd__http_coding)c);
            if (codec && codec->encoder)
                measure_coding((redd__http_coding)c, sizes[i]);
        }
    redd__http_encoders_fini(&encoders);
    return rc;
}
