/* SPDX-License-Identifier: MIT */
#include "ext/http/coding/codec.h"

static const redd__http_codec codecs[REDD__HTTP_CODINGS] = {
    [REDD__HTTP_GZIP] = {REDD_SLICE("gzip"), &redd__http_gzip_encoder, &redd__http_gzip_decoder},
    [REDD__HTTP_DEFLATE] = {REDD_SLICE("deflate"), NULL, &redd__http_deflate_decoder},
#ifdef REDD_HAVE_BROTLI
    [REDD__HTTP_BR] = {REDD_SLICE("br"), &redd__http_br_encoder, &redd__http_br_decoder},
#endif
#ifdef REDD_HAVE_ZSTD
    [REDD__HTTP_ZSTD] = {REDD_SLICE("zstd"), &redd__http_zstd_encoder, &redd__http_zstd_decoder},
#endif
};

const redd__http_codec *redd__http_codec_of(redd__http_coding coding)
{
    return codecs[coding].decoder ? &codecs[coding] : NULL;
}

redd__http_coding redd__http_coding_named(redd_slice name)
{
    static const redd_slice identity = REDD_SLICE("identity"), old_gzip = REDD_SLICE("x-gzip");
    if (redd_slice_equal_nocase(name, identity))
        return REDD__HTTP_IDENTITY;
    if (redd_slice_equal_nocase(name, old_gzip)) /* RFC 9110 8.4.1.3 */
        return REDD__HTTP_GZIP;
    for (int i = 0; i < REDD__HTTP_CODINGS; i++)
        if (codecs[i].decoder && redd_slice_equal_nocase(name, codecs[i].name))
            return (redd__http_coding)i;
    return REDD__HTTP_CODINGS;
}
