/* SPDX-License-Identifier: MIT */
#include "runtime/worker/message.h"

#include <stdio.h>
#include <string.h>

int redd__message_fail(redd__message *m, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(m->text, sizeof(m->text), format, args);
    va_end(args);
    return code;
}

void redd__message_clear(redd__message *m)
{
    m->text[0] = '\0';
}

void redd__message_append(redd__message *m, const char *format, ...)
{
    size_t len = strlen(m->text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(m->text + len, sizeof(m->text) - len, format, args);
    va_end(args);
}
