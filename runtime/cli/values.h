/* SPDX-License-Identifier: MIT */
/** What flags take. A value that is none is REDD_EVALUE, and the sentence names flag, value and
 * what was expected. */
#ifndef REDD_CLI_VALUES_H
#define REDD_CLI_VALUES_H

#include "runtime/cli/sentence.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Digits only, at most `max`. */
bool redd__value_number(const char *text, unsigned max, unsigned *out);

int redd__value_port(const char *flag, const char *value, uint16_t *out, redd__sentence *why);
/** From a millisecond to a day, in milliseconds. */
int redd__value_time(const char *flag, const char *value, uint64_t *out, redd__sentence *why);

typedef struct redd__word {
    const char *text;
    int value;
} redd__word;

/** One of `n` words; else the sentence names them all, and the nearest. */
int redd__value_word(const char *flag, const char *value, const redd__word *known, size_t n,
                     int *out, redd__sentence *why);

/** The permissions of a file, in octal, as for chmod. */
int redd__value_mode(const char *flag, const char *value, unsigned *out, redd__sentence *why);

/** HOST:PORT; `host` gets the host, without the brackets that an IPv6 address must have. */
int redd__value_address(const char *flag, const char *value, char *host, size_t size,
                        uint16_t *port, redd__sentence *why);

/* What is only checked. */

/** The path of a unix socket, or "@NAME". */
int redd__value_socket(const char *flag, const char *value, redd__sentence *why);
/** A path of a URL that a request can have. */
int redd__value_url_path(const char *flag, const char *value, redd__sentence *why);
/** The name of a file in a folder; "" is none. */
int redd__value_file_name(const char *flag, const char *value, redd__sentence *why);
/** The value of an HTTP field. */
int redd__value_field(const char *flag, const char *value, redd__sentence *why);

#endif
