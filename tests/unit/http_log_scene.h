/* SPDX-License-Identifier: MIT */
/** A server with an access log in a folder of its own. */
#ifndef REDD_TESTS_UNIT_HTTP_LOG_SCENE_H
#define REDD_TESTS_UNIT_HTTP_LOG_SCENE_H

#include "tests/unit/http_peers.h"

#include <redd/access_log.h>

#include <fcntl.h>
#include <unistd.h>

#define GET  "GET /a HTTP/1.1\r\nHost: h\r\nUser-Agent: test\r\n\r\n"
#define LINE "192.0.2.1 - - [28/May/2026:20:26:40 +0000] \"GET /a HTTP/1.1\" 200 2\n"

typedef struct scene {
    bed b;
    char folder[32], path[64];
    redd_access_log *log;
    client c;
    unsigned requests;
} scene;

static inline void on_request(redd_http_request *req, void *user)
{
    ((scene *)user)->requests++;
    (void)redd_http_respond_text(req, 200, "ok");
}

static inline void folder_begin(scene *s)
{
    memset(s, 0, sizeof *s);
    memcpy(s->folder, "/tmp/redd-log-XXXXXX", sizeof "/tmp/redd-log-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    (void)snprintf(s->path, sizeof s->path, "%s/log", s->folder);
}

static inline void open_at(scene *s, const char *path, redd_access_log_format format)
{
    bed_begin(&s->b, on_request, s);
    assert_int_equal(redd_access_log_open(s->b.rt, path, format, &s->log), 0);
    assert_int_equal(redd_access_log_attach(s->log, s->b.server), 0);
    peer_open(&s->b, &s->c, "192.0.2.1");
}

static inline void begin(scene *s, redd_access_log_format format)
{
    folder_begin(s);
    open_at(s, s->path, format);
}

static inline void stop(scene *s)
{
    client_close(&s->c);
    if (!s->b.gone) {
        bed_detach(&s->b, REDD_STOP_GRACEFUL);
        while (!s->b.gone)
            (void)uv_run(&s->b.loop, UV_RUN_ONCE);
    }
    redd_access_log_close(s->log);
    s->log = NULL;
    bed_end(&s->b);
}

static inline void folder_end(scene *s)
{
    (void)unlink(s->path);
    assert_int_equal(rmdir(s->folder), 0);
}

static inline void end(scene *s)
{
    stop(s);
    folder_end(s);
}

static inline bytes content(const char *path)
{
    bytes b = {0};
    char buf[65536];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    for (ssize_t n; (n = read(fd, buf, sizeof buf)) > 0;)
        bytes_add(&b, buf, (size_t)n);
    (void)close(fd);
    return b;
}

static inline size_t lines_in(const char *path)
{
    bytes b = content(path);
    size_t n = 0;
    for (size_t i = 0; i < b.len; i++)
        n += b.data[i] == '\n';
    bytes_free(&b);
    return n;
}

static inline void must_hold(const char *path, const char *text)
{
    bytes b = content(path);
    if (!bytes_are(&b, text, strlen(text)))
        fail_msg("%s is not\n%s", b.data ? b.data : "", text);
    bytes_free(&b);
}

static inline void ask(scene *s, unsigned n)
{
    while (n-- > 0)
        client_text(&s->c, GET);
}

#endif
