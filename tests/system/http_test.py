# SPDX-License-Identifier: MIT
"""HTTP through curl, wrk and raw sockets."""

import os
import re
import subprocess

import redd


def curl(server, *arguments, path="/", stdin=b""):
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--max-time", str(redd.PATIENCE), *arguments, server.url(path)],
        input=stdin,
        capture_output=True,
        timeout=redd.PATIENCE,
    )
    if done.returncode != 0:
        raise AssertionError(f"curl ended with {done.returncode}: {done.stderr.decode()}")
    return done.stdout


class Curl(redd.ServerCase):
    def test_get(self):
        head, _, body = curl(self.server, "--include").partition(b"\r\n\r\n")
        self.assertTrue(head.startswith(b"HTTP/1.1 200 OK\r\n"), head)
        self.assertIn(b"\r\nContent-Type: text/html; charset=utf-8", head)
        self.assertRegex(head, rb"\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT")
        self.assertIn(b"<title>redd echo</title>", body)
        self.assertTrue(body.endswith(b"</html>\n"))

    def test_head_has_the_length_and_no_body(self):
        body = curl(self.server)
        head = curl(self.server, "--head")
        self.assertTrue(head.startswith(b"HTTP/1.1 200 OK\r\n"), head)
        self.assertIn(b"\r\nContent-Length: %d\r\n" % len(body), head)
        self.assertTrue(head.endswith(b"\r\n\r\n"), "HEAD has brought a body")

    def test_not_found(self):
        self.assertEqual(curl(self.server, "--write-out", "%{http_code}", path="/nowhere"), b"Not Found\n404")

    def test_post_is_echoed_with_its_type(self):
        out = curl(self.server, "--include", "--data", "a=b", path="/any/path")
        head, _, body = out.partition(b"\r\n\r\n")
        self.assertIn(b"\r\nContent-Type: application/x-www-form-urlencoded", head)
        self.assertEqual(body, b"a=b")

    def test_post_without_a_body(self):
        self.assertEqual(curl(self.server, "--data", ""), b"")

    def test_chunked_upload(self):
        data = os.urandom(300_000)
        echoed = curl(
            self.server, "--header", "Transfer-Encoding: chunked", "--data-binary", "@-", "--request", "POST", stdin=data
        )
        self.assertEqual(echoed, data)

    def test_expect_100_continue(self):
        data = os.urandom(200_000)
        done = subprocess.run(
            ["curl", "-sSv", "--header", "Expect: 100-continue", "--data-binary", "@-", self.server.url()],
            input=data,
            capture_output=True,
            timeout=redd.PATIENCE,
        )
        self.assertEqual(done.stdout, data)
        self.assertIn(b"< HTTP/1.1 100 Continue", done.stderr)
        self.assertNotIn(b"Done waiting for 100-continue", done.stderr, "curl gave up waiting for the 100")

    def test_keep_alive_uses_one_connection(self):
        urls = [self.server.url("/a"), "-o", "/dev/null", self.server.url("/b"), "-o", "/dev/null"]
        out = curl(self.server, "--write-out", "%{num_connects} ", *urls, "-o", "/dev/null")
        self.assertEqual(out, b"1 0 0 ")

    def test_http_1_0(self):
        out = curl(self.server, "--http1.0", "--include")
        head, _, body = out.partition(b"\r\n\r\n")
        self.assertRegex(head, rb"^HTTP/1\.[01] 200 OK\r\n")
        self.assertIn(b"\r\nConnection: close", head)
        self.assertTrue(body.endswith(b"</html>\n"))

    def test_body_over_the_limit(self):
        server = redd.Server(redd.EXAMPLES / "echo.c", "--set", "http.max_body=1k")
        try:
            self.assertEqual(curl(server, "--data", "x" * 1024), b"x" * 1024)
            code = curl(server, "--data", "x" * 1025, "--output", "/dev/null", "--write-out", "%{http_code}")
            self.assertEqual(code, b"413")
        finally:
            server.stop()


class Raw(redd.ServerCase):
    def test_pipelined_requests_are_answered_in_order(self):
        names = [b"%d" % i for i in range(500)]
        requests = b"".join(
            b"POST /%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (name, len(name), name) for name in names
        )
        with self.server.connect() as sock:
            sock.sendall(requests)
            for name in names:
                status, _, body = redd.read_response(sock)
                self.assertEqual((status, body), (200, name))

    def test_cut_at_every_byte(self):
        data = (
            b"POST /cut HTTP/1.1\r\nHost: example.org\r\nContent-Type: text/x-cut\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nT: v\r\n\r\n"
            b"POST /next HTTP/1.1\r\nHost: example.org\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlast"
        )
        count = 0
        for cut, answer in redd.pieces_at_every_cut(self.server, data):
            with self.subTest(cut=cut):
                bodies = re.split(rb"HTTP/1\.1 200 OK\r\n", answer)[1:]
                self.assertEqual([part.partition(b"\r\n\r\n")[2] for part in bodies], [b"hello world", b"last"])
                self.assertIn(b"Content-Type: text/x-cut\r\n", bodies[0])
                self.assertIn(b"Connection: close\r\n", bodies[1])
            count += 1
        self.assertEqual(count, len(data) - 1)

    def test_every_truncation_is_survived(self):
        data = b"POST /cut HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
        for end in range(len(data)):
            with self.server.connect() as sock:
                sock.sendall(data[:end])
        status, _, _ = redd.request(self.server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertEqual(status, 200)

    def test_malformed_requests_are_refused_and_closed(self):
        host = b"Host: x\r\n"
        cases = {
            b"GET / HTTP/1.1\r\n\r\n": b"400",
            b"GET / HTTP/1.1\r\n" + host + host + b"\r\n": b"400",
            b"GET / HTTP/1.1\r\n" + host + b"A : b\r\n\r\n": b"400",
            b"GET / HTTP/1.1\r\n" + host + b"A: b\r\n c\r\n\r\n": b"400",
            b"POST / HTTP/1.1\r\n" + host + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n": b"400",
            b"POST / HTTP/1.1\r\n" + host + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n": b"400",
            b"GET / HTTP/1.1\r\n" + host + b"A: " + b"x" * 70_000 + b"\r\n\r\n": b"431",
            b"GET /" + b"x" * 60_000 + b" HTTP/1.1\r\n" + host + b"\r\n": b"414",
        }
        for data, status in cases.items():
            with self.subTest(data=data[:60]), self.server.connect() as sock:
                sock.sendall(data)
                answer = redd.read_all(sock)
                self.assertTrue(answer.startswith(b"HTTP/1.1 " + status + b" "), answer[:200])
                self.assertEqual(answer.count(b"HTTP/1.1 "), 1)


class Wrk(redd.ServerCase):
    app = redd.EXAMPLES / "hello.c"
    flags = ("--parallel=2",)

    def test_no_errors_under_load(self):
        done = subprocess.run(
            ["wrk", "-t1", "-c32", "-d2s", self.server.url()],
            capture_output=True,
            text=True,
            timeout=redd.PATIENCE,
            check=True,
        )
        self.assertNotIn("Socket errors", done.stdout)
        self.assertNotIn("Non-2xx", done.stdout)
        requests = re.search(r"(\d+) requests in", done.stdout)
        self.assertIsNotNone(requests, done.stdout)
        self.assertGreater(int(requests[1]), 100)


if __name__ == "__main__":
    redd.main()
