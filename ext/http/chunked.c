/* SPDX-License-Identifier: MIT */
#include "ext/http/chunked.h"

#include "ext/http/fields.h"

#define MAX_DIGITS 16 /* of a size, leading zeros included: 64 bits */
#define NO_DIGIT   16

/* What the next byte belongs to. chunk-ext is
 * *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] ). */
enum {
    SIZE = 0,
    EXT_BLANK,      /* behind the size or a value: only ";" may follow */
    EXT_BEGIN,      /* behind ";" */
    EXT_NAME,       /* behind the first byte of a name */
    EXT_NAME_BLANK, /* behind a name: ";" or "=" may follow */
    EXT_EQUALS,     /* behind "=" */
    EXT_TOKEN,      /* behind the first byte of a value that is a token */
    EXT_QUOTED,     /* inside a quoted value */
    EXT_ESCAPED,    /* behind its backslash */
    EXT_UNQUOTED,   /* behind its closing quote */
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    SECTION,    /* behind the last chunk's line */
    SECTION_LF, /* behind the CR of the empty line */
    TRAILERS,
    ENDED,
    MALFORMED
};

static unsigned hex_value(char ch)
{
    unsigned digit = (unsigned char)ch - (unsigned)'0';
    if (digit <= 9)
        return digit;
    digit = ((unsigned char)ch | 0x20U) - (unsigned)'a';
    return digit <= 5 ? digit + 10 : NO_DIGIT;
}

static bool is_blank(char ch)
{
    return ch == ' ' || ch == '\t';
}

/* What a size, a name or a value may be followed by, but for what belongs to it. */
static unsigned behind(char ch, unsigned if_blank)
{
    if (ch == '\r')
        return SIZE_LF;
    if (ch == ';')
        return EXT_BEGIN;
    return is_blank(ch) ? if_blank : MALFORMED;
}

static unsigned in_name(char ch)
{
    if (redd__http_is_token_char(ch))
        return EXT_NAME;
    return ch == '=' ? EXT_EQUALS : behind(ch, EXT_NAME_BLANK);
}

static unsigned in_value(unsigned state, char ch)
{
    switch (state) {
    case EXT_EQUALS:
        if (is_blank(ch))
            return EXT_EQUALS;
        if (ch == '"')
            return EXT_QUOTED;
        return redd__http_is_token_char(ch) ? EXT_TOKEN : MALFORMED;
    case EXT_TOKEN:
        return redd__http_is_token_char(ch) ? EXT_TOKEN : behind(ch, EXT_BLANK);
    case EXT_QUOTED:
        if (ch == '"')
            return EXT_UNQUOTED;
        if (ch == '\\')
            return EXT_ESCAPED;
        return redd__http_is_value(redd_slice_of(&ch, 1)) ? EXT_QUOTED : MALFORMED;
    case EXT_ESCAPED:
        return redd__http_is_value(redd_slice_of(&ch, 1)) ? EXT_QUOTED : MALFORMED;
    default:
        return behind(ch, EXT_BLANK);
    }
}

static unsigned in_extension(unsigned state, char ch)
{
    switch (state) {
    case EXT_BLANK:
        return ch == '\r' ? MALFORMED : behind(ch, EXT_BLANK);
    case EXT_BEGIN:
        if (is_blank(ch))
            return EXT_BEGIN;
        return redd__http_is_token_char(ch) ? EXT_NAME : MALFORMED;
    case EXT_NAME:
        return in_name(ch);
    case EXT_NAME_BLANK:
        if (ch == '=')
            return EXT_EQUALS;
        return ch == '\r' ? MALFORMED : behind(ch, EXT_NAME_BLANK);
    default:
        return in_value(state, ch);
    }
}

/* The digits of a size; returns the state behind them, or SIZE when the input ends first. */
static unsigned read_size(redd__http_chunked *d, const char **at, const char *end)
{
    for (; *at < end; ++*at) {
        unsigned digit = hex_value(**at);
        if (digit == NO_DIGIT)
            return d->digits > 0 ? behind(*(*at)++, EXT_BLANK) : MALFORMED;
        if (++d->digits > MAX_DIGITS)
            return MALFORMED;
        d->left = d->left << 4 | digit;
    }
    return SIZE;
}

/* Returns false beyond the limit. The CR that ends an extension counts in place of the byte that
 * began it. */
static bool read_extension(redd__http_chunked *d, const char **at, const char *end, uint64_t max)
{
    while (*at < end && d->state > SIZE && d->state < SIZE_LF) {
        if (++d->extensions > max)
            return false;
        d->state = (uint8_t)in_extension(d->state, *(*at)++);
    }
    return true;
}

/* Returns false beyond the limit. */
static bool begin_data(redd__http_chunked *d, uint64_t max)
{
    if (d->announced > max || d->left > max - d->announced)
        return false;
    d->announced += d->left;
    d->digits = 0;
    d->state = d->left > 0 ? DATA : SECTION;
    return true;
}

static redd_slice read_data(redd__http_chunked *d, const char **at, const char *end)
{
    size_t n = (size_t)(end - *at);
    if (n > d->left)
        n = (size_t)d->left;
    redd_slice piece = redd_slice_of(*at, n);
    *at += n;
    d->left -= n;
    if (d->left == 0)
        d->state = DATA_CR;
    return piece;
}

static uint8_t expect(char ch, char wanted, uint8_t next)
{
    return ch == wanted ? next : MALFORMED;
}

/* What one state makes of the input, of which there is some; MORE: another state is to look. */
static redd__http_chunk_event step(redd__http_chunked *d, const char **at, const char *end,
                                   const redd__http_chunk_limits *limits, redd_slice *piece)
{
    switch (d->state) {
    case SIZE:
        d->state = (uint8_t)read_size(d, at, end);
        break;
    case SIZE_LF:
        if (*(*at)++ != '\n')
            d->state = MALFORMED;
        else if (!begin_data(d, limits->body))
            return REDD__HTTP_CHUNK_LIMIT;
        break;
    case DATA:
        *piece = read_data(d, at, end);
        return REDD__HTTP_CHUNK_DATA;
    case DATA_CR:
        d->state = expect(*(*at)++, '\r', DATA_LF);
        break;
    case DATA_LF:
        d->state = expect(*(*at)++, '\n', SIZE);
        break;
    case SECTION:
        d->state = **at == '\r' ? SECTION_LF : TRAILERS;
        *at += d->state == SECTION_LF;
        break;
    case SECTION_LF:
        d->state = expect(*(*at)++, '\n', ENDED);
        break;
    case TRAILERS:
        return REDD__HTTP_CHUNK_TRAILERS;
    default:
        if (!read_extension(d, at, end, limits->extensions))
            return REDD__HTTP_CHUNK_LIMIT;
        break;
    }
    if (d->state == ENDED)
        return REDD__HTTP_CHUNK_END;
    return d->state == MALFORMED ? REDD__HTTP_CHUNK_BAD : REDD__HTTP_CHUNK_MORE;
}

redd__http_chunk_event redd__http_chunked_next(redd__http_chunked *d, redd_slice *in,
                                               const redd__http_chunk_limits *limits,
                                               redd_slice *piece)
{
    const char *at = in->data, *end = at + in->len;
    redd__http_chunk_event event = REDD__HTTP_CHUNK_MORE;
    while (event == REDD__HTTP_CHUNK_MORE && at < end)
        event = step(d, &at, end, limits, piece);
    *in = redd_slice_of(at, (size_t)(end - at));
    return event;
}
