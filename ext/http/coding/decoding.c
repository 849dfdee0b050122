/* SPDX-License-Identifier: MIT */
#include "ext/http/coding/decoding.h"

#include <redd/error.h>

#include <uv.h>

int redd__http_codings_parse(redd_slice list, redd__http_coding *codings, size_t *n)
{
    redd_slice name;
    while (redd_slice_next_element(&list, &name)) {
        redd__http_coding coding = redd__http_coding_named(name);
        if (coding == REDD__HTTP_IDENTITY)
            continue;
        if (coding == REDD__HTTP_CODINGS || *n == REDD__HTTP_CODINGS_MAX)
            return UV_ENOTSUP;
        codings[(*n)++] = coding;
    }
    return 0;
}

static int add_stages(redd__http_decoding *d, const redd__http_coding *codings, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        d->stages[d->n] = redd__http_codec_of(codings[i])->decoder->create(d->alloc);
        if (!d->stages[d->n])
            return UV_ENOMEM;
        d->n++;
    }
    if (n > 1)
        d->between = redd_alloc(d->alloc, REDD__HTTP_BETWEEN_MAX);
    return n > 1 && !d->between ? UV_ENOMEM : 0;
}

int redd__http_decoding_new(const redd_allocator *a, const redd__http_coding *codings, size_t n,
                            uint64_t max, redd__http_decoding **out)
{
    redd__http_decoding *d = redd_alloc_zero(a, sizeof *d);
    if (!d)
        return UV_ENOMEM;
    d->alloc = a;
    d->left = max;
    d->rest = redd_slice_of("", 0);
    int rc = add_stages(d, codings, n);
    if (rc)
        redd__http_decoding_free(d);
    else
        *out = d;
    return rc;
}

void redd__http_decoding_free(redd__http_decoding *d)
{
    for (size_t i = 0; i < d->n; i++)
        d->stages[i]->vt->destroy(d->stages[i]);
    redd_free(d->alloc, d->between, REDD__HTTP_BETWEEN_MAX);
    redd_free(d->alloc, d, sizeof *d);
}

static int run(redd__http_decoder *stage, redd_slice *in, redd__http_room *out)
{
    return stage->vt->decode(stage, in, out);
}

/* The second stage goes first: nothing is decoded for it before it has taken what there is. */
static int run_both(redd__http_decoding *d, redd_slice *wire, redd__http_room *out)
{
    for (;;) {
        int second = run(d->stages[1], &d->rest, out);
        if (second < 0 || second == REDD__HTTP_STEP_ROOM)
            return second;
        redd__http_room room = {d->between, REDD__HTTP_BETWEEN_MAX};
        int first = run(d->stages[0], wire, &room);
        if (first < 0)
            return first;
        d->rest = redd_slice_of(d->between, REDD__HTTP_BETWEEN_MAX - room.len);
        if (d->rest.len == 0)
            return first == REDD__HTTP_STEP_END ? second : first;
    }
}

int redd__http_decoding_step(redd__http_decoding *d, redd_slice *wire, char *buffer,
                             redd_slice *out)
{
    /* One byte more than is allowed tells that there is more. */
    size_t size = d->left < REDD__HTTP_DECODED_MAX ? (size_t)d->left + 1 : REDD__HTTP_DECODED_MAX;
    redd__http_room room = {buffer, size};
    d->begun |= wire->len > 0;
    int step = d->n > 1 ? run_both(d, wire, &room) : run(d->stages[0], wire, &room);
    *out = redd_slice_of(buffer, size - room.len);
    if (step < 0)
        return step;
    if (out->len > d->left)
        return REDD_ELIMIT;
    d->left -= out->len;
    return step;
}
