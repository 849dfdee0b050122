/* SPDX-License-Identifier: MIT */
/* Raw bytes behind a handshake, three times: whole, byte by byte, and cut as the input's first byte
 * says. How the bytes were cut must not be seen in events or output: the fast lane and wslay's
 * agree. */
#include <stdio.h>
#include <stdlib.h>

#define WS_MUST(condition)                                                                      \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            (void)fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort();                                                                            \
        }                                                                                       \
    } while (0)
#include "tests/unit/ws_fixture.h"

#define CAPACITY  (16U << 10) /* more than the answers to one input */
#define INPUT_MAX 1500

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Feeds it in pieces of `step` bytes and keeps what came of it. */
static void run(bed *b, const uint8_t *data, size_t size, size_t step, bytes *log, bytes *out)
{
    peer p;
    peer_open(b, &p, ACT_ECHO, CAPACITY);
    for (size_t off = 0; off < size; off += step)
        peer_send(&p, data + off, step < size - off ? step : size - off);
    peer_settle(&p);
    WS_MUST(!p.reset);
    *out = p.got;
    memset(&p.got, 0, sizeof p.got);
    redd_stream_close(p.stream, false);
    p.stream = NULL;
    peer_close(&p);
    WS_MUST(p.closes == 1);
    *log = p.log;
    memset(&p.log, 0, sizeof p.log);
    peer_free(&p);
    WS_MUST(redd_ws_count(b->w) == 0);
}

/* One for all inputs: what one leaves behind would show in the next, or at the end. */
static bed the_bed;

static void end(void)
{
    bed_end(&the_bed);
}

static bed *begin(void)
{
    if (!the_bed.w) {
        bed_begin(&the_bed);
        the_bed.options.max_message = 1024;
        the_bed.options.max_fragments = 64;
        WS_MUST(atexit(end) == 0);
    }
    return &the_bed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > INPUT_MAX)
        return 0;
    size_t steps[] = {size, 1, 2 + data[0] % 61U};
    bytes log[3], out[3];
    for (size_t i = 0; i < 3; i++)
        run(begin(), data + 1, size - 1, steps[i], &log[i], &out[i]);
    for (size_t i = 1; i < 3; i++) {
        WS_MUST(bytes_equal(&log[0], &log[i]));
        WS_MUST(bytes_equal(&out[0], &out[i]));
    }
    for (size_t i = 0; i < 3; i++) {
        bytes_free(&log[i]);
        bytes_free(&out[i]);
    }
    return 0;
}
