/* SPDX-License-Identifier: MIT */
/** Error codes: the system's errors as libuv numbers them, redd's own below them. */
#ifndef REDD_ERROR_H
#define REDD_ERROR_H

#include <redd/api.h>

REDD_BEGIN_DECLS

/** X(name, number, text): the one table of redd's own errors. Numbers never change meaning. */
#define REDD_ERROR_MAP(X)                                                  \
    X(EABI, -10001, "built for another ABI of redd")                       \
    X(EDEPENDENCY, -10002, "a dependency is missing or too old")           \
    X(ECYCLE, -10003, "dependencies form a cycle")                         \
    X(EDUPLICATE, -10004, "the name is taken")                             \
    X(ESYMBOL, -10005, "the entry symbol is missing")                      \
    X(EOP, -10006, "no such op")                                           \
    X(EARGUMENT, -10007, "wrong number or kind of op arguments")           \
    X(ERESOURCE, -10008, "no such resource, or it is of another type")     \
    X(ECLOSED, -10009, "closed")                                           \
    X(ESTATE, -10010, "not possible in this state")                        \
    X(ELIMIT, -10011, "a limit was reached")                               \
    X(EOPTION, -10012, "no such option")                                   \
    X(EVALUE, -10013, "the value is malformed or out of range")            \
    X(ESEALED, -10014, "the runtime has started and can no longer change") \
    X(EMALFORMED, -10015, "the peer broke the protocol")

typedef enum redd_errno {
#define REDD_ERROR_ENUM(name, number, text) REDD_##name = (number),
    REDD_ERROR_MAP(REDD_ERROR_ENUM)
#undef REDD_ERROR_ENUM
        REDD_ERRNO_LAST = -10016
} redd_errno;

/** "REDD_EABI", "EADDRINUSE", or "UNKNOWN" for a code that no table knows; static text. Any thread.
 */
REDD_API const char *redd_error_name(int code);
/** One lower-case phrase without a full stop ("address already in use"); static text, and "unknown
 *  error" for a code that no table knows. Any thread. */
REDD_API const char *redd_error_text(int code);

REDD_END_DECLS

#endif
