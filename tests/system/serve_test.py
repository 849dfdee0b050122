# SPDX-License-Identifier: MIT
"""What `redd serve` offers around an app: unix sockets, passed sockets, folders, logs, metrics, health."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys

import redd

HELLO = redd.EXAMPLES / "hello.c"


def curl(*arguments):
    done = subprocess.run(["curl", "--silent", "--show-error", *map(str, arguments)], capture_output=True, timeout=60)
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    return done.stdout


class UnixServer(redd.Process):
    """Listens on a path alone."""

    banner = "Listening on unix:"

    def __init__(self, path, *flags, app=HELLO, env=None):
        self.path = str(path)
        try:
            super().__init__([redd.PROGRAM, "serve", "--unix", self.path, *flags, app], env=env)
        except ValueError:  # the address is no HOST:PORT
            pass


class Unix(redd.TemporaryCase):
    def server(self, *flags, **options):
        server = UnixServer(self.folder / "socket", *flags, **options)
        self.addCleanup(server.abandon)
        return server

    def get(self, path, url="http://x/"):
        return curl("--unix-socket", path, url)

    def test_alone(self):
        path = self.folder / "socket"
        server = self.server("--unix-mode", "0600", "--parallel=2")
        self.assertEqual(server.banner_line, f"redd serve: Listening on unix:{path} with 2 threads")
        self.assertEqual(self.get(path), b"Hello\n")
        self.assertEqual(stat.S_IMODE(os.lstat(path).st_mode), 0o600)
        server.stop()
        self.assertFalse(path.exists())

    def test_beside_an_address(self):
        path = self.folder / "socket"
        server = self.serve(HELLO, "--unix", path)
        server.stderr.wait(f"Listening on unix:{path}")
        self.assertEqual(self.get(path), b"Hello\n")
        self.assertEqual(curl(server.url()), b"Hello\n")
        server.stop()

    def test_live_owner(self):
        server = self.server()
        done = redd.run("serve", "--unix", server.path, HELLO)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"cannot listen on unix:{server.path}: address already in use", done.stderr)
        self.assertEqual(self.get(server.path), b"Hello\n")
        server.stop()

    def test_left_behind(self):
        server = self.server()
        server.send(signal.SIGKILL)
        server.process.wait()
        server.stderr.finish()
        self.assertTrue(os.path.exists(server.path))
        server = self.server()
        self.assertEqual(self.get(server.path), b"Hello\n")
        server.stop()

    def test_plain_file(self):
        path = self.write("socket", "mine")
        done = redd.run("serve", "--unix", path, HELLO)
        self.assertEqual(done.returncode, 1)
        self.assertIn("file already exists", done.stderr)
        self.assertEqual(path.read_text(), "mine")

    def test_bad_mode(self):
        done = redd.run("serve", "--unix", "s", "--unix-mode", "rw", HELLO)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--unix-mode=rw: expected an octal mode such as 0660", done.stderr)

    def test_node(self):
        server = self.server(app=redd.EXAMPLES / "echo.c")
        script = (
            "const http = require('http');"
            f"const req = http.request({{socketPath: {json.dumps(server.path)}, path: '/', method: 'POST'}},"
            "res => res.on('data', d => process.stdout.write(d)));"
            "req.end('over a unix socket');"
        )
        done = subprocess.run(["node", "-e", script], capture_output=True, timeout=60)
        self.assertEqual(done.stdout, b"over a unix socket")
        server.stop()


class Activation(redd.TemporaryCase):
    """The parent passes descriptors from 3 on, as a service manager does."""

    LAUNCHER = (
        "import os, sys\n"
        "fds = [int(fd) for fd in sys.argv[1].split(',')]\n"
        "saved = [os.dup2(fd, 100 + i) for i, fd in enumerate(fds)]\n"
        "for i, fd in enumerate(saved):\n"
        "    os.dup2(fd, 3 + i, inheritable=True)\n"
        "os.environ['LISTEN_FDS'] = sys.argv[2]\n"
        "os.environ['LISTEN_PID'] = str(os.getpid()) if sys.argv[3] == 'own' else '1'\n"
        "os.execv(sys.argv[4], sys.argv[4:])\n"
    )

    def start(self, sockets, count, whose, *command):
        fds = [s.fileno() for s in sockets]
        launcher = [sys.executable, "-c", self.LAUNCHER, ",".join(map(str, fds)), str(count), whose]
        return subprocess.Popen(
            [*launcher, redd.PROGRAM, "serve", *map(str, command)],
            pass_fds=fds,
            env=redd.environment(),
            stderr=subprocess.PIPE,
            text=True,
        )

    def test_passed_sockets(self):
        first, second = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
        process = self.start([first, second], 2, "own", "--parallel=2", HELLO)
        lines = redd.Lines(process.stderr)
        for sock in (first, second):
            address = "127.0.0.1:%d" % sock.getsockname()[1]
            lines.wait(f"Listening on http://{address}/")
            self.assertEqual(curl(f"http://{address}/"), b"Hello\n")
        process.terminate()
        self.assertEqual(process.wait(60), 0)
        redd.check_stderr(lines.finish())
        self.assertNotIn("0.0.0.0", lines.text)

    def test_not_ours(self):
        sock = socket.create_server(("127.0.0.1", 0))
        process = self.start([sock], 1, "other", "--host", "127.0.0.1", "--port", "0", HELLO)
        lines = redd.Lines(process.stderr)
        line = lines.wait("Listening on http://127.0.0.1:")
        self.assertNotIn(":%d/" % sock.getsockname()[1], line)
        process.terminate()
        self.assertEqual(process.wait(60), 0)
        redd.check_stderr(lines.finish())

    def test_no_socket(self):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        process = self.start([sock], 1, "own", HELLO)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("LISTEN_FDS: descriptor 3 is no listening stream socket", errors)


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
