/* SPDX-License-Identifier: MIT */
/** PROXY headers, and what they are. */
#ifndef REDD_TESTS_UNIT_HTTP_PROXY_ROWS_H
#define REDD_TESTS_UNIT_HTTP_PROXY_ROWS_H

#include "ext/http/proxy/header.h"

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define PROXY4    SIGNATURE "\x21\x11\0\x0c"
#define PROXY6    SIGNATURE "\x21\x21\0\x24"
#define V4        "\xc6\x33\x64\x01\x0a\x00\x00\x01\x12\x67\x01\xbb" /* 198.51.100.1:4711 */
#define V6                                                                                         \
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x09\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\x12\x67" \
    "\x01\xbb"
#define MAPPED                                                                                     \
    "\0\0\0\0\0\0\0\0\0\0\xff\xff\xc6\x33\x64\x01\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x01\x12\x67" \
    "\x01\xbb"
#define TEN(x)     x x x x x x x x x x
#define UNIX_BLOCK TEN(TEN("u") TEN("v")) "sixteen bytes..."

#define ROW(text, ...)                           \
    {                                            \
        {"" text, sizeof(text) - 1}, __VA_ARGS__ \
    }
#define PEER   REDD__PROXY_DONE, "peer", 0, false
#define BAD    REDD__PROXY_BAD, NULL, 0, false
#define CLIENT REDD__PROXY_DONE, "198.51.100.1", 4711, false

typedef struct row {
    redd_slice header;
    redd__proxy_parsed is;
    const char *client; /* "peer": the peer's own */
    uint16_t port;
    bool https;
} row;

static const row rows[] = {
    /* version 1 */
    ROW("PROXY TCP4 198.51.100.1 10.0.0.1 4711 443\r\n", CLIENT),
    ROW("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", REDD__PROXY_DONE,
        "255.255.255.255", 65535, false),
    ROW("PROXY TCP4 0.0.0.0 0.0.0.0 0 0\r\n", REDD__PROXY_DONE, "0.0.0.0", 0, false),
    ROW("PROXY TCP6 2001:db8::9 2001:db8::1 4711 443\r\n", REDD__PROXY_DONE, "2001:db8::9", 4711,
        false),
    ROW("PROXY TCP6 2001:0DB8:0:0:0:0:0:9 ::1 4711 443\r\n", REDD__PROXY_DONE, "2001:db8::9", 4711,
        false),
    ROW("PROXY TCP6 ::ffff:198.51.100.1 ::1 4711 443\r\n", CLIENT),
    ROW("PROXY UNKNOWN\r\n", PEER),
    ROW("PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
        PEER),
    ROW("PROXY UNKNOWN \x01\xff anything\0\r\n", PEER),
    ROW("PROXY TCP4 198.51.100.1 10.0.0.1 4711 443 \r\n", BAD),
    ROW("PROXY TCP4 198.51.100.1 10.0.0.1 4711 443 1\r\n", BAD),
    ROW("PROXY TCP4  198.51.100.1 10.0.0.1 4711 443\r\n", BAD),
    ROW("PROXY  TCP4 198.51.100.1 10.0.0.1 4711 443\r\n", BAD),
    ROW(" PROXY TCP4 198.51.100.1 10.0.0.1 4711 443\r\n", BAD),
    ROW("PROXY TCP4\t198.51.100.1 10.0.0.1 4711 443\r\n", BAD),
    ROW("PROXY TCP4 198.51.100.1 10.0.0.1 4711\r\n", BAD),
    ROW("PROXY TCP4 198.51.100.1 10.0.0.1\r\n", BAD),
    ROW("PROXY TCP4 198.51.100.1\r\n", BAD),
    ROW("PROXY TCP4\r\n", BAD),
    ROW("PROXY \r\n", BAD),
    ROW("PROXY\r\n", BAD),
    ROW("PROXY TCP4 198.51.100.1 10.0.0.1 4711 443\n", BAD),
    ROW("PROXY TCP4 198.51.100.1 10.0.0.1 4711 443\n\n", BAD),
    ROW("PROXY TCP4 198.51.100.1 10.0.0.1 4711 443\r\r\n", BAD),
    ROW("PROXY TCP4 198.51.100.1 10.0.0.1 4711\n443\r\n", BAD),
    ROW("PROXY TCP4 198.51.100.1 10.0.0.1 4711 65536\r\n", BAD),
    ROW("PROXY TCP4 198.51.100.1 10.0.0.1 04711 443\r\n", BAD),
    ROW("PROXY TCP4 198.51.100.1 10.0.0.1 +4711 443\r\n", BAD),
    ROW("PROXY TCP4 198.51.100.1 10.0.0.1 -1 443\r\n", BAD),
    ROW("PROXY TCP4 198.51.100.01 10.0.0.1 4711 443\r\n", BAD),
    ROW("PROXY TCP4 198.51.100.256 10.0.0.1 4711 443\r\n", BAD),
    ROW("PROXY TCP4 198.51.100.1\0 10.0.0.1 4711 443\r\n", BAD),
    ROW("PROXY TCP4 198.51.100 10.0.0.1 4711 443\r\n", BAD),
    ROW("PROXY TCP4 198.51.100.1 nonsense 4711 443\r\n", BAD),
    ROW("PROXY TCP4 2001:db8::9 2001:db8::1 4711 443\r\n", BAD),
    ROW("PROXY TCP6 198.51.100.1 10.0.0.1 4711 443\r\n", BAD),
    ROW("PROXY TCP6 2001:db8::9%eth0 2001:db8::1 4711 443\r\n", BAD),
    ROW("PROXY TCP6 [2001:db8::9] 2001:db8::1 4711 443\r\n", BAD),
    ROW("PROXY tcp4 198.51.100.1 10.0.0.1 4711 443\r\n", BAD),
    ROW("PROXY UDP4 198.51.100.1 10.0.0.1 4711 443\r\n", BAD),
    ROW("PROXY TCP5 198.51.100.1 10.0.0.1 4711 443\r\n", BAD),
    ROW("PROXY UNKNOWNX\r\n", BAD),
    ROW("proxy TCP4 198.51.100.1 10.0.0.1 4711 443\r\n", BAD),
    ROW("PROXIED", BAD),
    ROW("GET / HTTP/1.1\r\n", BAD),
    ROW("\r\nGET", BAD),
    ROW("\0", BAD),
    ROW("\x16\x03\x01", BAD),

    /* version 2 */
    ROW(PROXY4 V4, CLIENT),
    ROW(PROXY6 V6, REDD__PROXY_DONE, "2001:db8::9", 4711, false),
    ROW(PROXY6 MAPPED, CLIENT),
    ROW(SIGNATURE "\x21\x31\0\xd8" UNIX_BLOCK, REDD__PROXY_DONE, "unix", 0, false),
    ROW(SIGNATURE "\x20\0\0\0", PEER),
    ROW(SIGNATURE "\x20\x11\0\x0c" V4, PEER),
    ROW(SIGNATURE "\x20\xff\0\x03"
                  "xyz",
        PEER),
    ROW(SIGNATURE "\x21\0\0\0", PEER),
    ROW(SIGNATURE "\x21\0\0\x0c" V4, PEER),
    ROW(SIGNATURE "\x21\x12\0\x0c" V4, PEER),
    ROW(SIGNATURE "\x21\x10\0\x0c" V4, PEER),
    ROW(SIGNATURE "\x21\x01\0\x0c" V4, PEER),
    ROW(SIGNATURE "\x21\x11\0\x0f" V4 "\x04\0\0", CLIENT),
    ROW(SIGNATURE "\x21\x11\0\x13" V4 "\x03\0\x04"
                  "crcc",
        CLIENT),
    ROW(SIGNATURE "\x21\x11\0\x16" V4 "\x02\0\x01"
                  "a"
                  "\xe0\0\x03"
                  "b\0c",
        CLIENT),
    ROW(SIGNATURE "\x21\x11\0\x14" V4 "\x20\0\x05"
                  "\x01\0\0\0\0",
        REDD__PROXY_DONE, "198.51.100.1", 4711, true),
    ROW(SIGNATURE "\x21\x11\0\x14" V4 "\x20\0\x05"
                  "\x06\0\0\0\0",
        CLIENT),
    ROW(SIGNATURE "\x21\x11\0\x10" V4 "\x20\0\x01\x01", CLIENT),
    ROW(SIGNATURE "\x11", BAD),
    ROW(SIGNATURE "\x31", BAD),
    ROW(SIGNATURE "\x22", BAD),
    ROW(SIGNATURE "\x2f", BAD),
    ROW(SIGNATURE "\x21\x41", BAD),
    ROW(SIGNATURE "\x21\xf1", BAD),
    ROW(SIGNATURE "\x21\x13", BAD),
    ROW(SIGNATURE "\x21\x1f", BAD),
    ROW(SIGNATURE "\x21\x11\0\x0b"
                  "\xc6\x33\x64\x01\x0a\x00\x00\x01\x12\x67\x01",
        BAD),
    ROW(SIGNATURE "\x21\x21\0\x0c" V4, BAD),
    ROW(SIGNATURE "\x21\x31\0\x0c" V4, BAD),
    ROW(SIGNATURE "\x21\x11\0\0", BAD),
    ROW(SIGNATURE "\x21\x11\0\x0e" V4 "\x04\0", BAD),
    ROW(SIGNATURE "\x21\x11\0\x0f" V4 "\x04\0\x01", BAD),
    ROW(SIGNATURE "\x21\x11\x0f\xf1", BAD), /* 4,081 + 16 bytes */
    ROW(SIGNATURE "\x20\0\xff\xff", BAD),
    ROW("\r\n\r\n\0\r\nQUIT\r", BAD),
    ROW("\r\n\r\nGET / HTTP/1.1\r\n", BAD),
};

#define N_ROWS (sizeof rows / sizeof *rows)

#endif
