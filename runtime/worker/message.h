/* SPDX-License-Identifier: MIT */
/** The sentence that explains an error. */
#ifndef REDD_WORKER_MESSAGE_H
#define REDD_WORKER_MESSAGE_H

#include <redd/error.h>

/** Caller's memory; zeroed, it is empty. */
typedef struct redd__message {
    char text[512]; /* cut off when longer */
} redd__message;

/** Sets the sentence; returns `code`, so that a refusal is one statement. */
int redd__message_fail(redd__message *m, int code, const char *format, ...) REDD_PRINTF(3, 4);
void redd__message_clear(redd__message *m);
/** Adds to the sentence. */
void redd__message_append(redd__message *m, const char *format, ...) REDD_PRINTF(2, 3);

#endif
