# SPDX-License-Identifier: MIT
"""What `redd serve` offers besides an app: folders, logs, metrics, health."""

import json
import os
import signal
import subprocess

import redd

HELLO = redd.EXAMPLES / "hello.c"


def curl(*arguments):
    done = subprocess.run(["curl", "--silent", "--show-error", *map(str, arguments)], capture_output=True, timeout=60)
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    return done.stdout


class Folder(redd.TemporaryCase):
    def setUp(self):
        super().setUp()
        (self.folder / "site" / "sub").mkdir(parents=True)
        (self.folder / "site" / "page.html").write_text("<p>page\n")
        (self.folder / "site" / ".secret").write_text("no")
        (self.folder / "outside").write_text("no")
        (self.folder / "site" / "link").symlink_to("../outside")

    def status(self, server, path):
        return int(curl("--path-as-is", "--output", "/dev/null", "--write-out", "%{http_code}", server.url(path)))

    def test_files(self):
        server = self.serve(self.folder / "site", "--parallel=2")
        server.stderr.wait("there is no index file, so / is 404; --listing shows what is there")
        self.assertEqual(curl(server.url("/page.html")), b"<p>page\n")
        for path in ("/", "/sub/", "/.secret", "/link", "/../outside", "/%2e%2e/outside", "/nothing"):
            self.assertEqual(self.status(server, path), 404, path)
        self.assertEqual(self.status(server, "/sub"), 301)
        server.stop()

    def test_flags(self):
        server = self.serve(
            self.folder / "site", "--listing", "--hidden", "--index", "page.html", "--cache-control", "max-age=9"
        )
        self.assertEqual(curl(server.url("/")), b"<p>page\n")
        self.assertIn(b"../", curl(server.url("/sub/")))
        self.assertEqual(self.status(server, "/.secret"), 200)
        self.assertIn(b"Cache-Control: max-age=9\r\n", curl("--head", server.url("/")))
        self.assertNotIn("no index file", server.stop())

    def test_large_file_and_ranges(self):
        data = os.urandom(3_000_000)
        (self.folder / "site" / "data.bin").write_bytes(data)
        server = self.serve(self.folder / "site")
        url = server.url("/data.bin")
        self.assertEqual(curl(url), data)
        self.assertEqual(curl("--range", "1000000-2000000", url), data[1000000:2000001])
        self.assertEqual(curl("--range", "-7", url), data[-7:])
        several = curl("--range", "0-9,1000-1009,2999999-", url)
        for piece in (data[:10], data[1000:1010], data[-1:]):
            self.assertIn(b"\r\n\r\n" + piece + b"\r\n--", several)
        part = self.folder / "part"
        part.write_bytes(data[:12345])
        curl("--continue-at", "-", "--output", part, url)
        self.assertEqual(part.read_bytes(), data)
        server.stop()

    def test_conditions(self):
        server = self.serve(self.folder / "site")
        url, tags, copy = server.url("/page.html"), self.folder / "tags", self.folder / "copy"
        curl("--etag-save", tags, "--output", copy, url)
        code = ("--output", "/dev/null", "--write-out", "%{http_code}")
        self.assertEqual(curl("--etag-compare", tags, *code, url), b"304")
        self.assertEqual(curl("--time-cond", copy, *code, url), b"304")
        self.assertEqual(curl("--header", 'If-Match: "x"', *code, url), b"412")
        self.assertEqual(curl("--request", "DELETE", *code, url), b"405")
        server.stop()

    def test_precompressed(self):
        subprocess.run(["gzip", "--keep", self.folder / "site" / "page.html"], check=True)
        server = self.serve(self.folder / "site")
        url = server.url("/page.html")
        head = curl("--head", "--header", "Accept-Encoding: gzip", url)
        self.assertIn(b"Content-Encoding: gzip\r\n", head)
        self.assertIn(b"Content-Type: text/html; charset=utf-8\r\n", head)
        self.assertIn(b"Vary: Accept-Encoding\r\n", head)
        self.assertEqual(curl("--compressed", url), b"<p>page\n")
        self.assertNotIn(b"Content-Encoding", curl("--head", url))
        server.stop()


class Watching(redd.TemporaryCase):
    def test_access_log(self):
        log, moved = self.folder / "access.log", self.folder / "access.log.1"
        server = self.serve(HELLO, "--access-log", log, "--access-log-format", "json", "--parallel=2")
        for i in range(50):
            curl(server.url(f"/before?{i}"))
        log.rename(moved)
        server.send(signal.SIGUSR1)
        while not log.exists():
            curl(server.url("/between"))
        for i in range(50):
            curl(server.url(f"/after?{i}"))
        server.stop()
        lines = [json.loads(line) for line in (moved.read_text() + log.read_text()).splitlines()]
        targets = [line["target"] for line in lines if "between" not in line["target"]]
        wanted = [f"/before?{i}" for i in range(50)] + [f"/after?{i}" for i in range(50)]
        self.assertEqual(sorted(targets), sorted(wanted))
        self.assertEqual({line["status"] for line in lines}, {200})

    def test_log_cannot_be_opened(self):
        done = redd.run("serve", "--access-log", self.folder / "no" / "log", HELLO)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--access-log=", done.stderr)
        done = redd.run("serve", "--access-log-format", "jsn", HELLO)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--access-log-format=jsn: expected common, combined or json", done.stderr)

    def test_metrics_and_health(self):
        server = self.serve(HELLO, "--metrics", "/metrics", "--health", "/health", "--parallel=2")
        for _ in range(20):
            curl(server.url("/"))
        curl("--head", server.url("/"))
        self.assertEqual(curl(server.url("/health")), b"ok\n")
        text = curl(server.url("/metrics")).decode()
        self.assertIn('redd_http_requests_total{method="GET"} 22\n', text)
        self.assertIn('redd_http_requests_total{method="HEAD"} 1\n', text)
        self.assertIn('redd_http_responses_total{class="2xx"} 22\n', text)
        self.assertIn("redd_http_requests_in_flight 1\n", text)
        self.assertTrue(text.endswith("# EOF\n"))
        head = curl("--head", server.url("/metrics")).decode()
        self.assertIn("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n", head)
        server.stop()

    def test_metrics_on_a_listener_of_their_own(self):
        server = self.serve(HELLO, "--metrics-listen", "127.0.0.1:0")
        base = server.stderr.wait("Metrics on ").split("Metrics on ")[1].rstrip("/")
        self.assertIn(b"redd_http_connections_total ", curl(base + "/metrics"))
        self.assertEqual(curl(base + "/health"), b"ok\n")
        code = ("--output", "/dev/null", "--write-out", "%{http_code}")
        self.assertEqual(curl(*code, base + "/"), b"404")
        self.assertEqual(curl(server.url("/metrics")), b"Hello\n")
        server.stop()
        done = redd.run("serve", "--metrics-listen", "nowhere", HELLO)
        self.assertIn("--metrics-listen=nowhere: expected HOST:PORT", done.stderr)

    def test_compress(self):
        page = self.write("page.html", "<p>text</p>\n" * 1000)
        server = self.serve(self.folder, "--compress")
        plain = curl(server.url("/page.html"))
        self.assertEqual(plain.decode(), page.read_text())
        coded = curl("--header", "Accept-Encoding: gzip", server.url("/page.html"))
        self.assertLess(len(coded), len(plain) // 10)
        self.assertEqual(curl("--compressed", server.url("/page.html")), plain)
        server.stop()


if __name__ == "__main__":
    redd.main()
