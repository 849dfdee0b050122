/* SPDX-License-Identifier: MIT */
/** The HTTP fixture under cmocka: what must hold is an assertion of the test. */
#ifndef REDD_TESTS_UNIT_HTTP_MUST_H
#define REDD_TESTS_UNIT_HTTP_MUST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define HTTP_MUST(condition) assert_true(condition)

#include "tests/unit/http_reply.h"

#endif
