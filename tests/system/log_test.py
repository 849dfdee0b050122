# SPDX-License-Identifier: MIT
"""Access logs through the program: what real clients leave in them, hostile ones too."""

import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

import redd

COMMON = re.compile(
    r'(?P<client>\S+) - - \[(?P<time>\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000)\] '
    r'"(?P<request>[^"]*)" (?P<status>\d{3}) (?P<sent>\d+)'
)
COMBINED = re.compile(COMMON.pattern + r' "(?P<referer>[^"]*)" "(?P<agent>[^"]*)"')
KEYS = (
    "time client method target version status bytes_sent bytes_received duration_ms "
    "host referer user_agent request_id outcome"
).split()
GET = b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n"


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


def eventually(holds):
    """What another process does in its own time; there is nothing else to wait on."""
    deadline = time.monotonic() + redd.PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError("it has not come")
        time.sleep(0.01)


class LogCase(redd.TemporaryCase):
    def begin(self, kind, *flags, app=redd.EXAMPLES / "echo.c"):
        self.path = self.folder / "access.log"
        self.server = self.serve(app, f"--access-log={self.path}", f"--access-log-format={kind}", *flags)

    def lines(self):
        """Of the stopped server: nothing may be missing by then."""
        self.server.stop()
        return self.read(self.path)

    def read(self, path):
        text = path.read_bytes()
        self.assertFalse(text and not text.endswith(b"\n"), "the last line is cut")
        return text.decode("ascii").splitlines()

    def objects(self):
        lines = [json.loads(line) for line in self.lines()]
        for line in lines:
            self.assertEqual(list(line), KEYS)
        return lines


class Formats(LogCase):
    def test_common(self):
        self.begin("common")
        body = curl(self.server, path="/nowhere?a=b")
        (line,) = self.lines()
        found = COMMON.fullmatch(line)
        self.assertIsNotNone(found, line)
        self.assertEqual(found["client"], "127.0.0.1")
        self.assertEqual(found["request"], "GET /nowhere?a=b HTTP/1.1")
        self.assertEqual((found["status"], found["sent"]), ("404", str(len(body))))
        logged = time.strptime(found["time"], "%d/%b/%Y:%H:%M:%S +0000")
        self.assertLess(abs(time.mktime(time.gmtime()) - time.mktime(logged)), redd.PATIENCE)

    def test_combined(self):
        self.begin("combined")
        curl(self.server, "--http1.0", "--user-agent", 'a "b" \\c', "--referer", "http://x/", path="/")
        (line,) = self.lines()
        found = COMBINED.fullmatch(line)
        self.assertIsNotNone(found, line)
        self.assertEqual(found["request"], "GET / HTTP/1.0")
        self.assertEqual((found["referer"], found["agent"]), ("http://x/", r"a \x22b\x22 \x5cc"))

    def test_json(self):
        self.begin("json")
        data = os.urandom(100_000)
        curl(self.server, "--data-binary", "@-", "--user-agent", 'a "b" \\c', path="/up?q", stdin=data)
        (line,) = self.objects()
        self.assertRegex(line.pop("time"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertRegex(line.pop("request_id"), r"^[0-9a-f]{32}$")
        self.assertLess(line.pop("duration_ms"), redd.PATIENCE * 1000)
        expected = dict(
            client="127.0.0.1",
            method="POST",
            target="/up?q",
            version="1.1",
            status=200,
            bytes_sent=len(data),
            bytes_received=len(data),
            host=f"127.0.0.1:{self.server.port}",
            referer=None,
            user_agent='a "b" \\c',
            outcome="done",
        )
        self.assertEqual(line, expected)

    def test_the_client_behind_a_proxy(self):
        self.begin("json", "--set=http.trusted=127.0.0.1", "--set=http.request_id=on")
        out = curl(self.server, "-i", "-H", "X-Forwarded-For: 198.51.100.9", "-H", "X-Request-Id: theirs")
        self.assertIn(b"\r\nX-Request-Id: theirs\r\n", out)
        (line,) = self.objects()
        self.assertEqual((line["client"], line["request_id"]), ("198.51.100.9", "theirs"))

    def test_who_gives_up(self):
        self.begin("json")
        with self.server.connect() as sock:
            sock.sendall(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n")
            redd.read_until(sock, b"\r\n\r\n")  # its handler waits for the body
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        (line,) = self.objects()
        self.assertEqual((line["client"], line["method"], line["outcome"]), ("127.0.0.1", "POST", "aborted"))

    def test_unknown_format(self):
        done = redd.run("serve", "--port=0", "--access-log=-", "--access-log-format=xml", redd.EXAMPLES / "echo.c")
        self.assertEqual(done.returncode, 2)

    def test_a_file_that_cannot_be_opened(self):
        done = redd.run("serve", "--host=127.0.0.1", "--port=0", "--access-log=/nowhere/log", redd.EXAMPLES / "echo.c")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/log", done.stderr)


class Hostile(LogCase):
    """Every byte in every place; a line feed, a quote or an escape of the terminal's must not come through."""

    def requests(self):
        for byte in range(256):
            b = bytes([byte])
            yield b"G" + b + b"T / HTTP/1.1\r\nHost: h\r\n\r\n"
            yield b"GET /" + b + b" HTTP/1.1\r\nHost: h\r\n\r\n"
            yield b"GET /?" + b + b"x=\" HTTP/1.1\r\nHost: h\r\n\r\n"
            yield b"GET / HTTP/1.1\r\nHost: h" + b + b"h\r\n\r\n"
            yield b"GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: a" + b + b"a\r\nReferer: r" + b + b"r\r\n\r\n"
            yield b"GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: " + b + b"\r\nUser-Agent: \"},{\"\r\n\r\n"
        yield b"GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: \x1b[2J\x1b]0;title\x07\" 200 0 \"-\r\n\r\n"
        yield b"GET /\xe2\x80\xa8 HTTP/1.1\r\nHost: h\r\nReferer: \xff\xfe\xed\xa0\x80\r\n\r\n"

    def send_all(self):
        count = 0
        socks = []
        for request in self.requests():
            sock = self.server.connect()
            sock.sendall(request)
            sock.shutdown(socket.SHUT_WR)
            socks.append(sock)
            count += 1
            if len(socks) == 100:
                self.finish(socks)
        self.finish(socks)
        return count

    def finish(self, socks):
        while socks:
            with socks.pop() as sock:
                try:
                    redd.read_all(sock)
                except ConnectionResetError:
                    pass

    def test_combined(self):
        self.begin("combined")
        count = self.send_all()
        lines = self.lines()
        for line in lines:
            self.assertTrue(line.isascii() and line.isprintable(), line)
            self.assertIsNotNone(COMBINED.fullmatch(line), line)
        # Some end before their head does, and were no request then.
        self.assertGreater(len(lines), count * 0.9)

    def test_json(self):
        self.begin("json", "--set=http.trusted=127.0.0.1")
        count = self.send_all()
        lines = self.objects()
        self.assertGreater(len(lines), count * 0.9)
        agents = {line["user_agent"] for line in lines}
        for byte in (*range(0x21, 0x7F), *range(0x80, 0x100)):
            self.assertIn(f"a{chr(byte)}a", agents)
        self.assertIn('"},{"', agents)


class Reopen(LogCase):
    def test_usr1(self):
        self.begin("json", "--parallel=2")
        before = self.folder / "access.log.1"
        stop = threading.Event()
        counts = [0, 0]

        def load(i):
            with self.server.connect() as sock:
                while not stop.is_set():
                    sock.sendall(GET)
                    redd.read_response(sock)
                    counts[i] += 1

        threads = [threading.Thread(target=load, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(5):
                os.rename(self.path, before)
                self.server.send(signal.SIGUSR1)
                eventually(self.path.exists)
                # The new file holds what comes from now on, and the old one keeps what it has.
                eventually(lambda: self.path.stat().st_size > 0)
                with (self.folder / "all").open("ab") as whole:
                    whole.write(before.read_bytes())
        finally:
            stop.set()
            for thread in threads:
                thread.join(redd.PATIENCE)
        lines = self.read(self.folder / "all") + self.lines()
        self.assertEqual(len(lines), sum(counts))
        for line in lines:
            self.assertEqual(json.loads(line)["target"], "/x")

    def test_a_folder_that_has_gone(self):
        folder = self.folder / "logs"
        folder.mkdir()
        path = folder / "access.log"
        server = self.serve(redd.EXAMPLES / "echo.c", f"--access-log={path}")
        os.rename(folder, self.folder / "gone")
        server.send(signal.SIGUSR1)
        server.stderr.wait("access log")
        curl(server)
        server.stop()
        self.assertEqual(len(self.read(self.folder / "gone" / "access.log")), 1)


class Whole(LogCase):
    def test_four_workers(self):
        self.begin("combined", "--parallel=4", app=redd.EXAMPLES / "hello.c")
        clients, each = 8, 1250

        def load():
            with self.server.connect() as sock:
                for _ in range(each // 50):
                    sock.sendall(GET * 50)
                    for _ in range(50):
                        redd.read_response(sock)

        threads = [threading.Thread(target=load) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(redd.PATIENCE)
        lines = self.lines()
        self.assertEqual(len(lines), clients * each)
        for line in lines:
            self.assertIsNotNone(COMBINED.fullmatch(line), line)

    def test_wrk(self):
        connections = 16
        self.begin("json", "--parallel=4", app=redd.EXAMPLES / "hello.c")
        done = subprocess.run(
            ["wrk", "-t2", f"-c{connections}", "-d1s", self.server.url()],
            capture_output=True,
            text=True,
            timeout=redd.PATIENCE,
        )
        count = int(re.search(r"(\d+) requests in", done.stdout)[1])
        lines = self.lines()
        for line in lines:
            json.loads(line)
        # What was under way at wrk's end was answered, but not counted by wrk.
        self.assertGreaterEqual(len(lines), count)
        self.assertLessEqual(len(lines), count + connections)


class Stdout(LogCase):
    def start(self, stdout):
        """The program with a stdout of ours, which redd.Server throws away."""
        command = [redd.PROGRAM, "serve", "--host=127.0.0.1", "--port=0", "--access-log=-", redd.EXAMPLES / "echo.c"]
        process = subprocess.Popen(command, env=redd.environment(), stdout=stdout, stderr=subprocess.PIPE, text=True)
        lines = redd.Lines(process.stderr)
        self.addCleanup(process.kill)
        port = int(lines.wait("Listening on http://").split("127.0.0.1:")[1].split("/")[0])
        return process, lines, port

    def get(self, port, count):
        with socket.create_connection(("127.0.0.1", port), redd.PATIENCE) as sock:
            for _ in range(count):
                sock.sendall(GET)
                redd.read_response(sock)

    def stop(self, process, lines):
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(redd.PATIENCE), 0)
        text = lines.finish()
        redd.check_stderr(text)
        return text

    def test_pipe(self):
        process, lines, port = self.start(subprocess.PIPE)
        self.get(port, 3)
        line = process.stdout.readline()
        self.assertIsNotNone(COMMON.fullmatch(line.rstrip("\n")), line)
        self.stop(process, lines)
        self.assertEqual(len(process.stdout.readlines()), 2)
        process.stdout.close()

    def test_file(self):
        with (self.folder / "out").open("wb") as out:
            process, lines, port = self.start(out)
            self.get(port, 3)
            self.stop(process, lines)
        self.assertEqual(len(self.read(self.folder / "out")), 3)

    def test_socket(self):
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                process, lines, port = self.start(theirs)
            self.get(port, 3)
            self.stop(process, lines)
            self.assertEqual(redd.read_all(ours).count(b"\n"), 3)

    def test_a_reader_that_stands_still(self):
        process, lines, port = self.start(subprocess.PIPE)
        self.get(port, 5000)
        self.assertIn("lines of the access log are lost", lines.wait("access log"))
        self.stop(process, lines)
        process.stdout.close()

    def test_a_reader_that_has_gone(self):
        process, lines, port = self.start(subprocess.PIPE)
        process.stdout.close()
        self.get(port, 3)
        self.assertIn("broken pipe", lines.wait("access log"))
        self.get(port, 3)
        self.stop(process, lines)


if __name__ == "__main__":
    redd.main()
