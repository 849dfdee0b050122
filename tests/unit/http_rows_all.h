/* SPDX-License-Identifier: MIT */
/** Every table of rows, for the app of http_rows_app.h behind a server with default options. */
#ifndef REDD_TESTS_UNIT_HTTP_ROWS_ALL_H
#define REDD_TESTS_UNIT_HTTP_ROWS_ALL_H

#include "tests/unit/http_rows_body.h"
#include "tests/unit/http_rows_chunks.h"
#include "tests/unit/http_rows_head.h"

typedef struct row_table {
    const char *name;
    const row *rows;
    size_t n;
    bool connect; /* the option "connect" is on */
} row_table;

#define ROW_TABLE(name, rows, connect)                     \
    {                                                      \
        name, rows, sizeof(rows) / sizeof *(rows), connect \
    }

static const row_table row_tables[] = {
    ROW_TABLE("request lines", request_line_rows, false),
    ROW_TABLE("CONNECT", connect_rows, true),
    ROW_TABLE("Host", host_rows, false),
    ROW_TABLE("fields", field_rows, false),
    ROW_TABLE("Content-Length", length_rows, false),
    ROW_TABLE("Transfer-Encoding", coding_rows, false),
    ROW_TABLE("chunks", chunk_rows, false),
    ROW_TABLE("chunk extensions", extension_rows, false),
    ROW_TABLE("trailers", trailer_rows, false),
    ROW_TABLE("connections", connection_rows, false),
};

enum { N_ROW_TABLES = sizeof row_tables / sizeof *row_tables };

#endif
