/* SPDX-License-Identifier: MIT */
/* Pairs are decoded as they come, and told whole. */
#include "ext/http/form/urlencoded.h"

#include "ext/http/form/form.h"
#include "ext/http/router/path.h"

enum { NAME, VALUE, TELL_PART, TELL_DATA };

static void begin_pair(redd_http_form *f)
{
    f->parser.urlencoded.state = NAME;
    f->text.len = 0;
}

static int end_pair(redd_http_form *f)
{
    redd__http_urlencoded *u = &f->parser.urlencoded;
    if (u->escape > 0)
        return REDD_EMALFORMED;
    if (u->state == NAME && f->text.len == 0)
        return 0;
    if (u->state == NAME)
        u->name_len = f->text.len;
    u->state = TELL_PART;
    return redd__http_form_count(f);
}

static int tell(redd_http_form *f)
{
    redd__http_urlencoded *u = &f->parser.urlencoded;
    redd_slice text = redd_buffer_slice(&f->text);
    if (u->state == TELL_PART) {
        const redd_http_part part = {.name = {text.data, u->name_len}};
        u->state = TELL_DATA;
        return redd__http_form_part(f, &part);
    }
    redd_slice value = redd_slice_of(text.data + u->name_len, text.len - u->name_len);
    int rc = redd__http_form_data(f, value, true);
    begin_pair(f);
    return rc;
}

/* Bytes that go as they are. */
static int add(redd_http_form *f, const char *bytes, size_t n)
{
    const redd__http_urlencoded *u = &f->parser.urlencoded;
    size_t len = u->state == NAME ? f->text.len : f->text.len - u->name_len;
    uint64_t max = u->state == NAME ? f->options.max_part_head : f->options.max_field;
    return n > max - len ? REDD_ELIMIT : redd_buffer_append(&f->text, bytes, n);
}

static int add_digit(redd_http_form *f, char c)
{
    redd__http_urlencoded *u = &f->parser.urlencoded;
    unsigned digit = redd__http_hex(c);
    if (digit > 15)
        return REDD_EMALFORMED;
    if (u->escape == 1) {
        u->escape = 2;
        u->high = (uint8_t)digit;
        return 0;
    }
    u->escape = 0;
    char byte = (char)(unsigned char)((unsigned)u->high << 4 | digit);
    return add(f, &byte, 1);
}

static int take_special(redd_http_form *f, char c)
{
    redd__http_urlencoded *u = &f->parser.urlencoded;
    switch (c) {
    case '&':
        return end_pair(f);
    case '%':
        u->escape = 1;
        return 0;
    case '+':
        return add(f, " ", 1);
    default: /* '=' */
        if (u->state == VALUE)
            return add(f, "=", 1);
        u->state = VALUE;
        u->name_len = f->text.len;
        return 0;
    }
}

static bool is_special(char c)
{
    return c == '&' || c == '%' || c == '+' || c == '=';
}

static int step(redd_http_form *f, redd_slice *data)
{
    size_t n = 0;
    int rc;
    if (f->parser.urlencoded.escape > 0) {
        rc = add_digit(f, data->data[n++]);
    } else if (is_special(data->data[0])) {
        rc = take_special(f, data->data[n++]);
    } else {
        while (n < data->len && !is_special(data->data[n]))
            n++;
        rc = add(f, data->data, n);
    }
    *data = redd_slice_of(data->data + n, data->len - n);
    return rc;
}

static int feed(redd_http_form *f, redd_slice *data, bool last)
{
    const redd__http_urlencoded *u = &f->parser.urlencoded;
    int rc = 0;
    while (rc == 0 && !redd__http_form_halted(f) && !f->complete) {
        if (u->state >= TELL_PART)
            rc = tell(f);
        else if (data->len > 0)
            rc = step(f, data);
        else if (!last)
            return 0;
        else if (f->text.len > 0 || u->state == VALUE || u->escape > 0)
            rc = end_pair(f);
        else
            f->complete = true;
    }
    return rc;
}

const redd__http_form_kind redd__http_form_urlencoded = {feed};
