/* SPDX-License-Identifier: MIT */
#include "ext/http/coding/encoders.h"

void redd__http_encoders_fini(redd__http_encoders *set)
{
    for (size_t i = 0; i < REDD__HTTP_CODINGS; i++) {
        while (set->kept[i]) {
            redd__http_encoder *e = set->kept[i];
            set->kept[i] = e->next;
            e->vt->destroy(e);
        }
        set->n_kept[i] = 0;
    }
}

static redd__http_encoder *take(redd__http_encoders *set, const redd_allocator *a,
                                redd__http_coding coding)
{
    redd__http_encoder *e = set->kept[coding];
    if (e) {
        set->kept[coding] = e->next;
        set->n_kept[coding]--;
        return e;
    }
    e = redd__http_codec_of(coding)->encoder->create(a);
    if (e)
        e->coding = (uint8_t)coding;
    return e;
}

redd__http_encoder *redd__http_encoder_get(redd__http_encoders *set, const redd_allocator *a,
                                           redd__http_coding coding, unsigned level)
{
    if (set->in_use == REDD__HTTP_ENCODERS_MAX)
        return NULL;
    redd__http_encoder *e = take(set, a, coding);
    if (!e)
        return NULL;
    set->in_use++;
    if (e->vt->begin(e, level)) {
        redd__http_encoder_put(set, e);
        return NULL;
    }
    return e;
}

void redd__http_encoder_put(redd__http_encoders *set, redd__http_encoder *e)
{
    set->in_use--;
    if (set->n_kept[e->coding] == REDD__HTTP_ENCODERS_KEPT) {
        e->vt->destroy(e);
        return;
    }
    if (e->vt->rest)
        e->vt->rest(e);
    e->next = set->kept[e->coding];
    set->kept[e->coding] = e;
    set->n_kept[e->coding]++;
}
