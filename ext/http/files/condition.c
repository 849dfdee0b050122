/* SPDX-License-Identifier: MIT */
#include "ext/http/files/condition.h"

#include "ext/http/put.h"

void redd__validators_of(const struct stat *st, const char *coding, int64_t now,
                         redd__validators *out)
{
    uint64_t ns = (uint64_t)st->st_mtim.tv_sec * 1000000000U + (uint64_t)st->st_mtim.tv_nsec;
    redd_slice suffix = redd_slice_str(coding);
    char *p = REDD__PUT(out->etag, "\"");
    p = redd__put_hex(p, ns);
    *p++ = '-';
    p = redd__put_hex(p, (uint64_t)st->st_size);
    if (suffix.len > 0) {
        *p++ = '-';
        p = redd__put_slice(p, suffix);
    }
    *p++ = '"';
    out->etag_len = (size_t)(p - out->etag);
    out->modified = st->st_mtim.tv_sec < now ? (int64_t)st->st_mtim.tv_sec : now;
    (void)redd__http_date_put(out->modified_text, out->modified);
}

/* Two of a field that is no list say nothing. */
static redd_slice single(const redd_http_request *req, const char *name)
{
    redd_slice value = redd_http_field_get(req, name, 0);
    if (value.data && redd_http_field_get(req, name, 1).data)
        return redd_slice_of("", 0);
    return value;
}

static bool has(const redd_http_request *req, const char *name)
{
    return redd_http_field_get(req, name, 0).data != NULL;
}

static bool date_of(const redd_http_request *req, const char *name, int64_t now, int64_t *t)
{
    return redd__http_date_parse(single(req, name), now, t);
}

/* Equal, and both strong. */
static bool same_strong(redd_slice tag, const redd__validators *v)
{
    return redd_slice_equal(tag, redd_slice_of(v->etag, v->etag_len));
}

static bool same_weak(redd_slice tag, const redd__validators *v)
{
    if (tag.len > 2 && tag.data[0] == 'W' && tag.data[1] == '/')
        tag = redd_slice_of(tag.data + 2, tag.len - 2);
    return same_strong(tag, v);
}

/* Whether any line of the field lists the tag, or is "*", which every file that is there meets. */
static bool lists(const redd_http_request *req, const char *name, const redd__validators *v,
                  bool (*same)(redd_slice, const redd__validators *))
{
    redd_slice value, tag;
    for (size_t i = 0; (value = redd_http_field_get(req, name, i)).data; i++)
        while (redd_slice_next_element(&value, &tag))
            if ((tag.len == 1 && tag.data[0] == '*') || same(tag, v))
                return true;
    return false;
}

unsigned redd__conditions_judge(const redd_http_request *req, const redd__validators *v,
                                int64_t now)
{
    int64_t t;
    if (has(req, "if-match")) {
        if (!lists(req, "if-match", v, same_strong))
            return 412;
    } else if (date_of(req, "if-unmodified-since", now, &t) && v->modified > t) {
        return 412;
    }
    if (has(req, "if-none-match"))
        return lists(req, "if-none-match", v, same_weak) ? 304 : 0;
    return date_of(req, "if-modified-since", now, &t) && v->modified <= t ? 304 : 0;
}

/* A date is as good as a strong tag only when the file has been at rest since (RFC 9110 8.8.2.2).
 */
bool redd__if_range_holds(const redd_http_request *req, const redd__validators *v, int64_t now)
{
    redd_slice value = single(req, "if-range");
    int64_t t;
    if (!value.data)
        return true;
    if (value.len > 0 && value.data[0] == '"') /* a weak one never holds, and is no date either */
        return same_strong(value, v);
    return redd__http_date_parse(value, now, &t) && t == v->modified && now - t >= 2;
}
