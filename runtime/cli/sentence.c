/* SPDX-License-Identifier: MIT */
#include "runtime/cli/sentence.h"

#include <stdio.h>
#include <unistd.h>

int redd__sentence_set(redd__sentence *s, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(s->text, sizeof(s->text), format, args);
    va_end(args);
    return code;
}

void redd__say(const char *command, const char *format, ...)
{
    redd__sentence text;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text.text, sizeof(text.text), format, args);
    va_end(args);
    char line[sizeof(text.text) + 64];
    int n = snprintf(line, sizeof(line), "%s: %s\n", command, text.text);
    if (n < 0)
        return;
    size_t len = (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1;
    /* Nowhere is left to report a failure of stderr. */
    ssize_t written = write(STDERR_FILENO, line, len);
    (void)written;
}
