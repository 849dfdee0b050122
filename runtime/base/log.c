/* SPDX-License-Identifier: MIT */
#include <redd/log.h>

#include <stdio.h>
#include <unistd.h>

enum { LINE_LIMIT = 1024 };

static const char cut_mark[] = "...";

typedef struct line {
    char text[LINE_LIMIT];
    size_t len;
} line;

/** Appends all of it, or nothing and returns false. */
static bool put(line *l, const char *text, size_t len)
{
    if (len > sizeof(l->text) - l->len)
        return false;
    memcpy(l->text + l->len, text, len);
    l->len += len;
    return true;
}

/** Control bytes would let a peer's text forge lines or drive a terminal. */
static bool put_escaped(line *l, char c)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char u = (unsigned char)c;
    if (u >= 0x20 && u != 0x7f)
        return put(l, &c, 1);
    char escaped[4] = {'\\', 'x', hex[u >> 4], hex[u & 15]};
    return put(l, escaped, sizeof(escaped));
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/** Fills the line; `cut` says that `text` already lacks its end. */
static void fill(line *l, const char *text, size_t len, bool cut)
{
    const size_t room = sizeof(l->text) - (sizeof(cut_mark) - 1);
    size_t keep = 0; /* the longest whole part that leaves room for the mark */
    size_t i = 0;
    for (; i < len && put_escaped(l, text[i]); i++)
        if (l->len <= room)
            keep = l->len;
    if (i == len && !cut)
        return;
    while (keep > 0 && keep < l->len && is_continuation(l->text[keep]))
        keep--;
    l->len = keep;
    (void)put(l, cut_mark, sizeof(cut_mark) - 1);
}

static void write_stderr(redd_log_level level, redd_slice text)
{
    char out[LINE_LIMIT + 32];
    int n = snprintf(out, sizeof(out), "redd: %s: %.*s\n", redd_log_level_name(level),
                     (int)text.len, text.data);
    /* When stderr fails, nobody is left to be told. */
    ssize_t written = n > 0 ? write(STDERR_FILENO, out, (size_t)n) : 0;
    (void)written;
}

void redd_log(const redd_logger *logger, redd_log_level level, const char *format, ...)
{
    static const redd_logger zeroed;
    if (!logger)
        logger = &zeroed;
    if (level > logger->level)
        return;

    char raw[LINE_LIMIT + 1];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    if (n < 0)
        return;

    line l;
    l.len = 0;
    bool cut = (size_t)n >= sizeof(raw);
    fill(&l, raw, cut ? sizeof(raw) - 1 : (size_t)n, cut);
    redd_slice text = redd_slice_of(l.text, l.len);
    if (logger->write)
        logger->write(level, text, logger->user);
    else
        write_stderr(level, text);
}

const char *redd_log_level_name(redd_log_level level)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    return (size_t)level < sizeof(names) / sizeof(names[0]) ? names[level] : "?";
}
