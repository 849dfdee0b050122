/* SPDX-License-Identifier: MIT */
#include "ext/http/router/methods.h"

#include "ext/http/fields.h"

static redd_slice name_of(const redd__http_method *m)
{
    return redd_slice_of(m->name, m->len);
}

uint64_t redd__http_method_bit(const redd__http_methods *m, redd_slice name)
{
    for (unsigned i = 0; i < m->count; i++)
        if (redd_slice_equal(name_of(&m->list[i]), name))
            return UINT64_C(1) << m->list[i].bit;
    return 0;
}

static bool comes_before(redd_slice a, redd_slice b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
    return order < 0 || (order == 0 && a.len < b.len);
}

uint64_t redd__http_method_take(redd__http_methods *m, redd_slice name)
{
    uint64_t bit = redd__http_method_bit(m, name);
    if (bit)
        return bit;
    if (m->count == REDD__HTTP_MAX_METHODS || name.len > REDD__HTTP_MAX_METHOD_NAME ||
        !redd__http_is_token(name))
        return 0;
    unsigned at = m->count;
    for (; at > 0 && comes_before(name, name_of(&m->list[at - 1])); at--)
        m->list[at] = m->list[at - 1];
    m->list[at].bit = (uint8_t)m->count;
    m->list[at].len = (uint8_t)name.len;
    memcpy(m->list[at].name, name.data, name.len);
    return UINT64_C(1) << m->count++;
}

redd_slice redd__http_methods_write(const redd__http_methods *m, uint64_t bits, char *out)
{
    size_t n = 0;
    for (unsigned i = 0; i < m->count; i++) {
        const redd__http_method *method = &m->list[i];
        if (!(bits >> method->bit & 1))
            continue;
        if (n > 0) {
            out[n++] = ',';
            out[n++] = ' ';
        }
        memcpy(out + n, method->name, method->len);
        n += method->len;
    }
    return redd_slice_of(out, n);
}
