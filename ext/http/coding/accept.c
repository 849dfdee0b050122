/* SPDX-License-Identifier: MIT */
#include "ext/http/coding/accept.h"

#define UNLISTED (-1)

/* Weights in thousandths. */
typedef struct weights {
    int of[REDD__HTTP_CODINGS];
    int any; /* "*" */
} weights;

/* qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] ), RFC 9110 12.4.2; UNLISTED for what
 * is none. */
static int parse_qvalue(redd_slice s)
{
    if (s.len == 0 || s.len > 5 || (s.data[0] != '0' && s.data[0] != '1'))
        return UNLISTED;
    int q = s.data[0] == '1' ? 1000 : 0;
    if (s.len > 1 && s.data[1] != '.')
        return UNLISTED;
    int unit = 100;
    for (size_t i = 2; i < s.len; i++, unit /= 10) {
        if (s.data[i] < '0' || s.data[i] > '9')
            return UNLISTED;
        q += (s.data[i] - '0') * unit;
    }
    return q <= 1000 ? q : UNLISTED;
}

/* The weight behind a coding's name, which is cut off. */
static int cut_weight(redd_slice *element)
{
    const char *semicolon = memchr(element->data, ';', element->len);
    if (!semicolon)
        return 1000;
    size_t name_len = (size_t)(semicolon - element->data);
    redd_slice weight = redd_slice_trim(redd_slice_of(semicolon + 1, element->len - name_len - 1));
    *element = redd_slice_trim(redd_slice_of(element->data, name_len));
    if (weight.len < 2 || (weight.data[0] | 0x20) != 'q' || weight.data[1] != '=')
        return UNLISTED;
    return parse_qvalue(redd_slice_of(weight.data + 2, weight.len - 2));
}

/* What is malformed or unknown says nothing. */
static void take_list(weights *w, redd_slice list)
{
    redd_slice element;
    while (redd_slice_next_element(&list, &element)) {
        int q = cut_weight(&element);
        redd__http_coding coding = redd__http_coding_named(element);
        if (q == UNLISTED)
            continue;
        if (coding < REDD__HTTP_CODINGS)
            w->of[coding] = q;
        else if (element.len == 1 && element.data[0] == '*')
            w->any = q;
    }
}

static int weight_of(const weights *w, redd__http_coding coding)
{
    if (w->of[coding] != UNLISTED)
        return w->of[coding];
    return w->any != UNLISTED ? w->any : 0;
}

unsigned redd__http_codings_encoded(void)
{
    unsigned set = 0;
    for (int i = 0; i < REDD__HTTP_CODINGS; i++) {
        const redd__http_codec *codec = redd__http_codec_of((redd__http_coding)i);
        if (codec && codec->encoder)
            set |= REDD__HTTP_CODING_BIT(i);
    }
    return set;
}

/* zstd at its default level is as small as gzip at its own and br at 4, at a fifth of their time;
 * br is a little smaller than gzip in as much time. */
static redd__http_coding best_of(const weights *w, unsigned offered)
{
    static const redd__http_coding order[] = {REDD__HTTP_ZSTD, REDD__HTTP_BR, REDD__HTTP_GZIP};
    redd__http_coding best = REDD__HTTP_IDENTITY;
    /* Identity is not listed: anything that is accepted is preferred to it. */
    int best_weight = w->of[REDD__HTTP_IDENTITY] == UNLISTED ? 1 : w->of[REDD__HTTP_IDENTITY];
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        int q = weight_of(w, order[i]);
        bool better = best == REDD__HTTP_IDENTITY ? q >= best_weight : q > best_weight;
        if ((offered & REDD__HTTP_CODING_BIT(order[i])) && q > 0 && better) {
            best = order[i];
            best_weight = q;
        }
    }
    return best;
}

redd__http_coding redd__http_coding_accepted(const redd_http_request *req, unsigned offered)
{
    weights w = {.any = UNLISTED};
    for (size_t i = 0; i < REDD__HTTP_CODINGS; i++)
        w.of[i] = UNLISTED;
    redd_slice list;
    for (size_t nth = 0; (list = redd_http_field_get(req, "accept-encoding", nth)).data; nth++)
        take_list(&w, list);
    return best_of(&w, offered);
}
