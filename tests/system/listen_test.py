# SPDX-License-Identifier: MIT
"""Where `redd serve` listens besides an address: unix sockets, and sockets that were passed."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import unittest

import redd
import websockets

HELLO = redd.EXAMPLES / "hello.c"
ECHO = redd.EXAMPLES / "echo.c"
GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def curl(*arguments):
    done = subprocess.run(["curl", "--silent", "--show-error", *map(str, arguments)], capture_output=True, timeout=60)
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    return done.stdout


class UnixCase(redd.TemporaryCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "socket"

    def server(self, *flags, app=HELLO, path=None, **options):
        server = redd.UnixServer(path or self.path, app, *flags, **options)
        self.addCleanup(server.abandon)
        return server

    def get(self, path=None):
        return curl("--unix-socket", path or self.path, "http://x/")

    def leave_behind(self):
        """The socket file of a server that was killed."""
        server = self.server()
        server.send(signal.SIGKILL)
        server.process.wait()
        server.stderr.finish()
        self.assertTrue(self.path.exists())

    def refused(self, code, sentence, *arguments):
        done = redd.run("serve", *arguments)
        self.assertEqual((done.returncode, done.stderr), (code, f"redd serve: {sentence}\n"))


class Serving(UnixCase):
    def test_alone(self):
        server = self.server("--parallel=2")
        self.assertEqual(server.banner_line, f"redd serve: Listening on unix:{self.path} with 2 threads")
        self.assertEqual(self.get(), b"Hello\n")
        self.assertNotIn("http://", server.stop())
        self.assertFalse(self.path.exists())

    def test_beside_an_address_and_each_other(self):
        other = self.folder / "other"
        server = self.serve(HELLO, "--unix", self.path, f"--unix={other}", "--parallel=2")
        for path in (self.path, other):
            server.stderr.wait(f"redd serve: Listening on unix:{path}")
            self.assertEqual(self.get(path), b"Hello\n")
        self.assertEqual(curl(server.url()), b"Hello\n")
        server.stop()
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_abstract(self):
        name = f"redd-test-{os.getpid()}"
        server = self.server("--parallel=2", path=f"@{name}")
        self.assertEqual(server.banner_line, f"redd serve: Listening on unix:@{name} with 2 threads")
        self.assertEqual(curl("--abstract-unix-socket", name, "http://x/"), b"Hello\n")
        self.refused(1, f"cannot listen on unix:@{name}: address already in use", f"--unix=@{name}", HELLO)
        server.stop()

    def test_modes(self):
        for flags, mode, umask in (((), 0o660, 0o077), (("--unix-mode=0600",), 0o600, 0), (("--unix-mode", "777"), 0o777, 0o022)):
            server = self.server(*flags, before=("sh", "-c", f'umask {umask:o}; exec "$@"', "-"))
            self.assertEqual(stat.S_IMODE(os.lstat(self.path).st_mode), mode)
            server.stop()

    def test_every_worker_serves(self):
        """And each counts what it has accepted."""
        server = self.server("--parallel=4", "--metrics=/metrics", app=redd.APPS / "life.c")
        workers = set()
        for i in range(1, 2000):
            workers.add(redd.request(server, GET)[2])
            if len(workers) == 4:
                break
        self.assertEqual(workers, {b"0", b"1", b"2", b"3"})
        text = curl("--unix-socket", self.path, "http://x/metrics").decode()
        counts = [int(line.split()[1]) for line in text.splitlines() if line.startswith("redd_net_accepted_total{")]
        self.assertEqual((len(counts), sum(counts)), (4, i + 1))
        server.stop()

    def test_large_bodies(self):
        data = os.urandom(4_000_000)
        (self.folder / "site").mkdir()
        body = self.folder / "site" / "body"
        body.write_bytes(data)
        server = self.server(app=ECHO)
        echoed = curl("--unix-socket", self.path, "--data-binary", f"@{body}", "http://x/")
        self.assertEqual(echoed, data)
        server.stop()
        server = self.server(app=self.folder / "site")
        self.assertEqual(curl("--unix-socket", self.path, "http://x/body"), data)
        server.stop()

    def test_access_log(self):
        log = self.folder / "log"
        server = self.server("--access-log", log, "--access-log-format=json")
        self.get()
        server.stop()
        self.assertEqual(json.loads(log.read_text())["client"], "unix")

    def test_node(self):
        server = self.server(app=ECHO)
        script = (
            "const http = require('http');"
            f"const req = http.request({{socketPath: {json.dumps(server.path)}, path: '/', method: 'POST'}},"
            "res => res.on('data', d => process.stdout.write(d)));"
            "req.end('over a unix socket');"
        )
        done = subprocess.run(["node", "-e", script], capture_output=True, timeout=60)
        self.assertEqual(done.stdout, b"over a unix socket")
        server.stop()

    def test_websockets(self):
        async def scene(server):
            async with websockets.unix_connect(server.path, "ws://x/") as ws:
                for message in ("hello", b"x" * 1_000_000):
                    await ws.send(message)
                    self.assertEqual(await ws.recv(), message)
                server.send()
                await asyncio.wait_for(ws.wait_closed(), redd.PATIENCE)
                self.assertEqual(ws.close_code, 1001)

        server = self.server("--parallel=2", "--set=ws.max_message=2m", app=ECHO)
        asyncio.run(scene(server))
        server.wait()
        self.assertFalse(self.path.exists())


class Owners(UnixCase):
    """Whose file may be replaced and removed, and whose not."""

    def test_live_owner(self):
        server = self.server()
        self.refused(1, f"cannot listen on unix:{self.path}: address already in use", "--unix", self.path, HELLO)
        self.assertEqual(self.get(), b"Hello\n")
        server.stop()

    def test_left_behind(self):
        self.leave_behind()
        server = self.server()
        self.assertEqual(self.get(), b"Hello\n")
        server.stop()

    def test_race_for_what_was_left_behind(self):
        """Many start at once: one serves, and the others say why they do not."""
        self.leave_behind()
        ends, winners = [], []
        lock = threading.Lock()

        def start():
            try:
                server = self.server()
                with lock:
                    winners.append(server)
            except AssertionError as refusal:
                with lock:
                    ends.append(str(refusal))

        threads = [threading.Thread(target=start) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(redd.PATIENCE)
        self.assertEqual((len(winners), len(ends)), (1, 7), ends)
        for end in ends:
            self.assertIn("address already in use", end)
        self.assertEqual(self.get(), b"Hello\n")
        winners[0].stop()
        self.assertFalse(self.path.exists())

    def test_successor(self):
        """What was put in our file's place is not ours to remove."""
        first = self.server()
        self.path.unlink()
        second = self.server()
        first.stop()
        self.assertEqual(self.get(), b"Hello\n")
        second.stop()
        first = self.server()
        self.path.unlink()
        self.path.write_text("mine")
        first.stop()
        self.assertEqual(self.path.read_text(), "mine")

    def test_other_files(self):
        sentence = f"cannot listen on unix:{self.path}: file already exists"
        self.path.write_text("mine")
        self.refused(1, sentence, "--unix", self.path, HELLO)
        self.assertEqual(self.path.read_text(), "mine")
        self.path.unlink()
        self.path.symlink_to("nowhere")
        self.refused(1, sentence, "--unix", self.path, HELLO)
        self.assertTrue(self.path.is_symlink())

    def test_one_of_several_fails(self):
        """What the others have made is removed."""
        missing = self.folder / "no" / "socket"
        sentence = f"cannot listen on unix:{missing}: no such file or directory"
        self.refused(1, sentence, "--unix", self.path, "--unix", missing, HELLO)
        self.assertFalse(self.path.exists())


LAUNCHER = r"""
import os, sys
fds = [int(fd) for fd in sys.argv[1].split(",") if fd]
saved = [os.dup2(fd, 100 + i) for i, fd in enumerate(fds)]
for fd in range(3, 20):
    try:
        os.close(fd)
    except OSError:
        pass
for i, fd in enumerate(saved):
    os.dup2(fd, 3 + i, inheritable=True)
os.environ["LISTEN_FDS"] = sys.argv[2]
os.environ["LISTEN_PID"] = str(os.getpid()) if sys.argv[3] == "own" else sys.argv[3]
os.environ["LISTEN_FDNAMES"] = "a:b"
os.execv(sys.argv[4], sys.argv[4:])
"""

CURIOUS = r"""#include <redd/redd.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static int init(redd_runtime *rt, void **shared)
{
    (void)rt, (void)shared;
    int flags = fcntl(3, F_GETFD);
    fprintf(stderr, "curious: %d %d %d, %s\n", getenv("LISTEN_FDS") != NULL, getenv("LISTEN_PID") != NULL,
            getenv("LISTEN_FDNAMES") != NULL, flags >= 0 && (flags & FD_CLOEXEC) ? "closed for children" : "open");
    return 0;
}

static void serve(redd_http_request *req, void *user)
{
    (void)user;
    (void)redd_http_respond_text(req, 200, "Hello\n");
}

REDD_APP(.init = init, .serve = serve)
"""


class Activation(redd.TemporaryCase):
    """The parent passes descriptors from 3 on, as a service manager does."""

    def start(self, sockets, count, whose, *command):
        fds = [s.fileno() for s in sockets]
        launcher = [sys.executable, "-c", LAUNCHER, ",".join(map(str, fds)), str(count), whose]
        process = subprocess.Popen(
            [*launcher, redd.PROGRAM, "serve", *map(str, command)],
            pass_fds=fds,
            env=redd.environment(),
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.kill)
        return process, redd.Lines(process.stderr)

    def stop(self, process, lines):
        process.terminate()
        self.assertEqual(process.wait(redd.PATIENCE), 0)
        text = lines.finish()
        redd.check_stderr(text)
        return text

    def refused(self, sentence, sockets, count):
        process, lines = self.start(sockets, count, "own", HELLO)
        self.assertEqual(process.wait(redd.PATIENCE), 1)
        self.assertEqual(lines.finish(), f"redd serve: {sentence}\n")

    def tcp(self):
        return self.enter(socket.create_server(("127.0.0.1", 0)))

    def enter(self, sock):
        self.addCleanup(sock.close)
        return sock

    def test_all_are_served_by_all_workers(self):
        path = self.folder / "socket"
        unix = self.enter(socket.socket(socket.AF_UNIX))
        unix.bind(str(path))
        unix.listen()
        tcp = [self.tcp(), self.tcp()]
        process, lines = self.start([*tcp, unix], 3, "own", "--parallel=2", redd.APPS / "life.c")
        lines.wait("sockets that come from LISTEN_FDS: 3")
        targets = [[f"http://127.0.0.1:{sock.getsockname()[1]}/"] for sock in tcp]
        targets.append(["--unix-socket", path, "http://x/"])
        for target in targets:
            workers = set()
            for _ in range(1000):
                workers.add(curl(*target))
                if len(workers) == 2:
                    break
            self.assertEqual(workers, {b"0", b"1"}, target)
        text = self.stop(process, lines)
        banners = [line for line in text.splitlines() if "Listening on" in line]
        wanted = [target[-1] for target in targets[:2]] + [f"unix:{path}"]
        wanted[0] += " with 2 threads"
        self.assertEqual(banners, [f"redd serve: Listening on {place}" for place in wanted])
        self.assertTrue(path.exists())  # its maker's to remove

    def test_beside_others(self):
        sock, path = self.tcp(), self.folder / "socket"
        process, lines = self.start([sock], 1, "own", "--unix", path, HELLO)
        lines.wait(f"Listening on http://127.0.0.1:{sock.getsockname()[1]}/")
        self.assertEqual(curl("--unix-socket", path, "http://x/"), b"Hello\n")
        self.assertEqual(self.stop(process, lines).count("Listening on"), 2)

    def test_backlog(self):
        """Who came before the server did is served."""
        sock = self.tcp()
        with socket.create_connection(sock.getsockname(), redd.PATIENCE) as client:
            client.sendall(GET)
            process, lines = self.start([sock], 1, "own", HELLO)
            self.assertTrue(redd.read_all(client).endswith(b"Hello\n"))
        self.stop(process, lines)

    def test_not_ours(self):
        sock = self.tcp()
        for whose in ("1", "", "own1", "99999999999999999999"):
            process, lines = self.start([sock], 1, whose, "--host", "127.0.0.1", "--port", "0", HELLO)
            line = lines.wait("Listening on http://127.0.0.1:")
            self.assertNotIn(":%d/" % sock.getsockname()[1], line)
            self.assertNotIn("LISTEN_FDS", self.stop(process, lines))

    def test_refusals(self):
        tcp, udp = self.tcp(), self.enter(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        idle = self.enter(socket.socket())
        none = "LISTEN_FDS: descriptor {} is no listening stream socket: invalid argument"
        self.refused(none.format(3), [udp], 1)
        self.refused(none.format(4), [tcp, idle], 2)
        self.refused("LISTEN_FDS=2: descriptor 4 is not open", [tcp], 2)
        for count in ("many", "-1", "", "1025", "1x"):
            self.refused(f"LISTEN_FDS={count}: expected a number of sockets from 0 to 1024", [tcp], count)

    def test_children_get_neither_sockets_nor_variables(self):
        app = self.folder / "curious.c"
        app.write_text(CURIOUS)
        sock = self.tcp()
        process, lines = self.start([sock], 1, "own", app)
        lines.wait("curious: 0 0 0, closed for children")
        lines.wait("Listening on")
        self.assertEqual(curl(f"http://127.0.0.1:{sock.getsockname()[1]}/"), b"Hello\n")
        self.stop(process, lines)

    @contextlib.contextmanager
    def systemd(self, *arguments):
        """systemd's own program for tests; it starts the command at the first connection."""
        environment = redd.environment()
        kept = [f"--setenv={name}" for name in environment if name.startswith(("XDG_CACHE", "ASAN_", "TSAN_", "UBSAN_", "LSAN_"))]
        process = subprocess.Popen(
            ["systemd-socket-activate", *kept, *map(str, arguments)], env=environment, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(process.kill)
        lines = redd.Lines(process.stderr)
        lines.wait("Listening on")
        yield lines
        self.stop(process, lines)

    @unittest.skipUnless(shutil.which("systemd-socket-activate"), "systemd is not here")
    def test_systemd(self):
        paths = [self.folder / "first", self.folder / "second"]
        listen = [f"--listen={path}" for path in paths]
        with self.systemd(*listen, redd.PROGRAM, "serve", "--parallel=2", HELLO) as lines:
            for path in paths:
                self.assertEqual(curl("--unix-socket", path, "http://x/"), b"Hello\n")
                lines.wait(f"redd serve: Listening on unix:{path}")
            lines.wait("redd serve: sockets that come from LISTEN_FDS: 2")


if __name__ == "__main__":
    redd.main()
