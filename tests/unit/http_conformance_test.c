/* SPDX-License-Identifier: MIT */
/** The conformance tables, by a handler in C. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_rows_app.h"

#define CONFORMANCE_HANDLER         rows_app_handler
#define CONFORMANCE_BEGIN(bed, app) ((void)0)
#include "tests/unit/http_conformance.h"

int main(void)
{
    return conformance_main();
}
