/* SPDX-License-Identifier: MIT */
/* Parts of files as pieces of a body: by sendfile where the stream can, else read into the output;
 * either way a file takes no memory of its own, and no more than a budget of each turn. */
#include "ext/http/put.h"
#include "ext/http/response.h"

#include <unistd.h>
#include <uv.h>

#define BUDGET       (1U << 20)   /* bytes per poll: other connections want their turn */
#define CODED_BUDGET (128U << 10) /* of what is compressed */
#define PORTION      (16U << 10)  /* read at once for a stream without a way of its own */

static int file_ended(redd_http_request *req)
{
    redd_log(redd_worker_logger(req->state->worker), REDD_LOG_WARN,
             "http: a file ended before the length that its response had told");
    redd__http_connection_lose(req->conn, UV_ECANCELED);
    return UV_EIO;
}

static void advance(redd_http_request *req, size_t n)
{
    req->file_off += n;
    req->file_left -= n;
    req->conn->progress = true;
}

/* One call of sendfile. 0, UV_EAGAIN, or an error after which the connection is lost. */
static int send_portion(redd_http_request *req, size_t max, size_t *n)
{
    redd__http_connection *c = req->conn;
    size_t len = req->file_left < max ? (size_t)req->file_left : max;
    int rc = redd_stream_send_file(c->stream, req->file, req->file_off, len, n);
    if (rc == UV_EAGAIN)
        return rc;
    if (rc) {
        redd__http_connection_lose(c, rc);
        return rc;
    }
    if (*n == 0)
        return file_ended(req);
    req->sent += *n;
    advance(req, *n);
    return 0;
}

/* Enough waits for the peer. */
static bool is_full(const redd_http_request *req)
{
    size_t queued = redd_output_queued(&req->conn->output);
    return queued > 0 && queued + PORTION > req->conn->server->options.max_queued;
}

/* One read of at most a portion. 0, or an error after which the connection is lost. */
static int read_file(redd_http_request *req, char *room, size_t *n)
{
    size_t len = req->file_left < PORTION ? (size_t)req->file_left : PORTION;
    ssize_t got;
    do
        got = pread(req->file, room, len, (off_t)req->file_off);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        int error = -errno;
        redd__http_connection_lose(req->conn, UV_ECANCELED);
        return error;
    }
    if (got == 0)
        return file_ended(req);
    *n = (size_t)got;
    return 0;
}

/* One read into the output. UV_EAGAIN: enough waits there. */
static int read_portion(redd_http_request *req, size_t *n)
{
    redd_output *o = &req->conn->output;
    if (is_full(req))
        return UV_EAGAIN;
    char *room = redd_output_reserve(o, PORTION);
    if (!room) { /* `fd` must not be looked at any more once an error was told */
        redd__http_connection_lose(req->conn, UV_ENOMEM);
        return UV_ENOMEM;
    }
    int rc = read_file(req, room, n);
    if (rc)
        return rc;
    redd_output_commit(o, *n);
    req->sent += *n;
    advance(req, *n);
    return 0;
}

/* As read_portion, through the encoder. */
static int code_portion(redd_http_request *req, size_t *n)
{
    char portion[PORTION];
    if (is_full(req))
        return UV_EAGAIN;
    int rc = read_file(req, portion, n);
    if (rc)
        return rc;
    bool last = *n == req->file_left;
    rc = redd__http_write_coded(req, redd_slice_of(portion, *n),
                                last ? REDD__HTTP_FLUSH_PIECE : REDD__HTTP_FLUSH_NONE);
    if (rc)
        redd__http_connection_lose(req->conn, rc);
    else
        advance(req, *n);
    return rc;
}

/* Sends up to the budget. 0: the file is through; UV_EAGAIN: not yet; else the connection is lost.
 */
static int pump(redd_http_request *req)
{
    redd__http_connection *c = req->conn;
    bool direct = c->stream->vt->send_file != NULL && !req->encoder;
    size_t budget = req->encoder ? CODED_BUDGET : BUDGET, spent = 0, n = 0;
    int rc = direct ? redd_output_flush(&c->output) : 0;
    while (rc == 0 && req->file_left > 0 && spent < budget) {
        if (req->encoder)
            rc = code_portion(req, &n);
        else
            rc = direct ? send_portion(req, budget - spent, &n) : read_portion(req, &n);
        spent += n;
    }
    if (rc == 0 && req->file_left > 0) {
        c->poll_again = true;
        return UV_EAGAIN;
    }
    if (rc == 0 && req->file_chunked) {
        static const redd_slice end = REDD_SLICE("\r\n");
        rc = redd_output_write(&c->output, end);
        if (rc)
            redd__http_connection_lose(c, rc);
    }
    return rc;
}

void redd__http_file_step(redd__http_connection *c)
{
    redd_http_request *req = redd_http_request_ref(c->request); /* its loss may be its end */
    (void)pump(req);
    if (req->conn && redd_output_queued(&c->output) > 0)
        (void)redd_output_flush(&c->output); /* an error is found by the next poll */
    redd_http_request_unref(req);
}

static int may_send(const redd_http_request *req, uint64_t length)
{
    if (!req->conn)
        return REDD_ECLOSED;
    if (req->answer != REDD__HTTP_STREAMING || req->file_left > 0)
        return REDD_ESTATE;
    return length > INT64_MAX || (req->declared >= 0 && length > (uint64_t)req->declared)
               ? UV_EINVAL
               : 0;
}

/* A file is one chunk: its length is known. */
static int begin_chunk(redd_http_request *req, uint64_t length)
{
    redd_output *o = &req->conn->output;
    char *start = redd_output_reserve(o, 20);
    if (!start)
        return redd__http_output_failed(req);
    redd_output_commit(o, (size_t)(redd__http_put_chunk_size(start, length) - start));
    return 0;
}

int redd_http_write_file(redd_http_request *req, int fd, uint64_t offset, uint64_t length)
{
    int rc = may_send(req, length);
    if (rc)
        return rc;
    bool nothing = length == 0 || req->bodyless_out;
    bool chunk = req->chunked_out && !req->encoder;
    if (!nothing && chunk && (rc = begin_chunk(req, length)))
        return rc;
    if (req->declared >= 0)
        req->declared -= (int64_t)length;
    if (nothing)
        return 0;
    req->file = fd;
    req->file_off = offset;
    req->file_left = length;
    req->file_chunked = chunk;
    redd__http_connection_wake(req->conn);
    rc = pump(req);
    if (rc != UV_EAGAIN)
        return rc;
    redd__http_owe_drain(req, 0);
    return REDD_HTTP_FULL;
}
