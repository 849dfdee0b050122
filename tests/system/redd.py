# SPDX-License-Identifier: MIT
"""What every system test shares: running the program, and a server that is always stopped and judged."""

import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

PROGRAM = os.environ["REDD_PROGRAM"]
SOURCE = pathlib.Path(os.environ["REDD_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["REDD_BUILD_DIR"])
EXAMPLES = SOURCE / "examples"
APPS = SOURCE / "tests" / "system" / "apps"
EXTENSIONS = SOURCE / "tests" / "system" / "extensions"

# Far longer than anything takes, sanitizers and a busy machine included: only a hang comes so far.
PATIENCE = 120

SANITIZER_MARKS = (
    "ERROR: AddressSanitizer",
    "ERROR: LeakSanitizer",
    "WARNING: ThreadSanitizer",
    "runtime error:",
)


def environment(changes=None):
    """Ours, without what would decide for the program, and with the tests' own cache of compiled apps."""
    env = dict(os.environ)
    for name in ("REDD_JOBS", "DENO_JOBS", "CC"):
        env.pop(name, None)
    env["XDG_CACHE_HOME"] = str(BUILD / "tests" / "system" / "cache")
    env.update(changes or {})
    return {name: value for name, value in env.items() if value is not None}


def check_stderr(text):
    for mark in SANITIZER_MARKS:
        if mark in text:
            raise AssertionError("the program's stderr holds a sanitizer's report:\n" + text)


def run(*arguments, env=None, cwd=None):
    """Runs a command of the program that ends by itself."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)],
        env=environment(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    check_stderr(done.stderr)
    return done


class Lines:
    """Collects a pipe's lines on a thread, so that a test can wait for one of them."""

    def __init__(self, pipe):
        self.text = ""
        self._pipe = pipe
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        for line in self._pipe:
            with self._changed:
                self.text += line
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def wait(self, part):
        """The first line that holds `part`."""

        def found():
            return next((line for line in self.text.splitlines() if part in line), None)

        with self._changed:
            self._changed.wait_for(lambda: found() or self._ended, PATIENCE)
            line = found()
        if line is None:
            raise AssertionError(f"no line with {part!r} in:\n{self.text}")
        return line

    def finish(self):
        self._thread.join(PATIENCE)
        self._pipe.close()
        return self.text


class Process:
    """A program that says where it listens, and is stopped by a signal."""

    banner = "Listening on http://"

    def __init__(self, command, env=None, cwd=None):
        self.process = subprocess.Popen(
            list(map(str, command)),
            env=environment(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.stderr = Lines(self.process.stderr)
        try:
            self.banner_line = self.stderr.wait(self.banner)
        except AssertionError:
            self.abandon()
            raise
        self.find(self.banner_line.split(self.banner)[1])

    def find(self, address):
        address = address.split("/")[0]
        self.host, _, port = address.rpartition(":")
        self.host = self.host.strip("[]")
        self.port = int(port)

    def send(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self, expect=0):
        """Waits for the end; the exit status and a clean stderr are part of every test."""
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            self.process.wait()
            raise AssertionError("the program did not end:\n" + self.stderr.finish()) from None
        text = self.stderr.finish()
        check_stderr(text)
        if status != expect:
            raise AssertionError(f"exit status {status}, expected {expect}:\n{text}")
        return text

    def stop(self, number=signal.SIGTERM, expect=0):
        if self.process.poll() is None:
            self.send(number)
        return self.wait(expect)

    def abandon(self):
        """For a test that has failed already."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.stderr.finish()

    def connect(self):
        sock = socket.create_connection((self.host, self.port), PATIENCE)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def url(self, path="/", scheme="http"):
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port}{path}"


class Server(Process):
    """`redd serve` on a free port of the loopback."""

    def __init__(self, app, *flags, env=None, cwd=None, host="127.0.0.1"):
        command = [PROGRAM, "serve", "--host", host, "--port", "0", *flags, app]
        super().__init__(command, env=env, cwd=cwd)


class UnixServer(Process):
    """`redd serve` on the path of a unix socket alone."""

    banner = "Listening on unix:"

    def __init__(self, path, app, *flags, env=None, cwd=None, before=()):
        super().__init__([*before, PROGRAM, "serve", "--unix", path, *flags, app], env=env, cwd=cwd)

    def find(self, address):
        self.path = address.split(" with ")[0]

    def connect(self):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(PATIENCE)
        sock.connect("\0" + self.path[1:] if self.path.startswith("@") else self.path)
        return sock


class ServerCase(unittest.TestCase):
    """Tests against one server, which is started once for the class."""

    app = EXAMPLES / "echo.c"
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(cls.app, *cls.flags)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()


class TemporaryCase(unittest.TestCase):
    """Tests with a folder and servers of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def serve(self, *arguments, **options):
        server = Server(*arguments, **options)
        self.addCleanup(server.abandon)
        return server

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


# --- raw sockets ---


def read_all(sock):
    """Everything until the peer's end."""
    data = bytearray()
    while piece := sock.recv(65536):
        data += piece
    return bytes(data)


def read_exactly(sock, count):
    data = bytearray()
    while len(data) < count:
        piece = sock.recv(count - len(data))
        if not piece:
            raise AssertionError(f"the peer ended after {bytes(data)!r}")
        data += piece
    return bytes(data)


def read_until(sock, end):
    """Up to and with `end`, byte by byte so that nothing behind it is taken."""
    data = bytearray()
    while not data.endswith(end):
        data += read_exactly(sock, 1)
    return bytes(data)


def read_response(sock):
    """Status, fields (names in lower case) and body by Content-Length."""
    head = read_until(sock, b"\r\n\r\n").decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    fields = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields[name.lower()] = value.strip()
    body = read_exactly(sock, int(fields.get("content-length", 0)))
    return int(first.split()[1]), fields, body


def request(server, text):
    """One request on a connection of its own, which the server is asked to close."""
    with server.connect() as sock:
        sock.sendall(text)
        return read_response(sock)


def pieces_at_every_cut(server, data):
    """Sends `data` once for each place where it can be cut in two, the halves as separate reads of the
    server, and yields (cut, what came back). The first halves go out on many connections at once; a
    whole exchange on another connection then shows that the server has been through them."""
    cuts = range(1, len(data))
    for start in range(0, len(cuts), 100):
        group = []
        for cut in cuts[start : start + 100]:
            sock = server.connect()
            sock.sendall(data[:cut])
            group.append((cut, sock))
        request(server, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        for cut, sock in group:
            sock.sendall(data[cut:])
        for cut, sock in group:
            with sock:
                yield cut, read_all(sock)


def main():
    unittest.main(verbosity=2)
