/* SPDX-License-Identifier: MIT */
/* A Content-Type (the first line, or none: a form of boundary XX) and a body, read as a form four
 * times: whole, byte by byte, cut as the input's first byte says, and with a pause in every call.
 * What is told must be the same. */
#include <stdio.h>
#include <stdlib.h>

#define HTTP_MUST(condition)                                                                    \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            (void)fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort();                                                                            \
        }                                                                                       \
    } while (0)
#include "tests/unit/http_form_fixture.h"

#define INPUT_MAX 2000
#define RUNS      4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One for all inputs: what one leaves behind would show in the next, or at the end. */
static desk the_desk;

static void end(void)
{
    desk_end(&the_desk);
}

static desk *begin(void)
{
    desk *d = &the_desk;
    if (!d->b.w) {
        desk_begin(d);
        d->options.max_parts = 20;
        d->options.max_part_head = 200; /* of sizes, those whose excess is told at the same place */
        HTTP_MUST(atexit(end) == 0);
    }
    return d;
}

static void run(desk *d, const char *type, redd_slice body, desk_way way, bytes *log)
{
    bytes_clear(&d->log);
    desk_send(d, type, body.data, body.len, way);
    HTTP_MUST(d->form == NULL);
    *log = d->log;
    memset(&d->log, 0, sizeof d->log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes type = {0}, log[RUNS];
    const uint8_t *line = size > 0 ? memchr(data + 1, '\n', size - 1) : NULL;
    if (!line || size > INPUT_MAX)
        return 0;
    bytes_add(&type, data + 1, (size_t)(line - data) - 1);
    if (type.len == 0)
        bytes_text(&type, DESK_MULTIPART);
    redd_slice body = redd_slice_of(line + 1, size - (size_t)(line + 1 - data));
    size_t cut = 1 + data[0], all = body.len ? body.len : 1;
    const desk_way ways[RUNS] = {
        {all, all, false}, {1, 1, false}, {cut, cut, true}, {cut, all, false}};
    desk *d = begin();
    for (unsigned i = 0; i < RUNS; i++) {
        d->pauses = i == RUNS - 1;
        run(d, type.data, body, ways[i], &log[i]);
    }
    for (unsigned i = 0; i < RUNS; i++)
        HTTP_MUST(bytes_are(&log[0], log[i].data, log[i].len));
    for (unsigned i = 0; i < RUNS; i++)
        bytes_free(&log[i]);
    bytes_free(&type);
    return 0;
}
