# SPDX-License-Identifier: MIT
"""What signals do: the first drains, the second kills."""

import asyncio
import signal
import subprocess

import redd
import websockets

KEEP_ALIVE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Stop(redd.TemporaryCase):
    def test_term_and_int_end_an_idle_server(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            for flags in ((), ("--parallel=3",)):
                server = self.serve(redd.EXAMPLES / "hello.c", *flags)
                self.assertTrue(server.stop(number).endswith("\nredd serve: stopping\n"))

    def test_idle_connections_are_closed_at_once(self):
        server = self.serve(redd.EXAMPLES / "echo.c", "--parallel=2")
        silent = server.connect()
        kept = server.connect()
        kept.sendall(KEEP_ALIVE)
        self.assertEqual(redd.read_response(kept)[0], 200)
        server.send()
        with silent, kept:
            self.assertEqual(silent.recv(1), b"")
            self.assertEqual(kept.recv(1), b"")
        server.wait()

    def test_websockets_get_1001(self):
        async def scene(server):
            sockets = [await websockets.connect(server.url("/", "ws")) for _ in range(8)]
            for ws in sockets:
                await ws.send("hello")
                self.assertEqual(await ws.recv(), "hello")
            server.send()
            for ws in sockets:
                await asyncio.wait_for(ws.wait_closed(), redd.PATIENCE)
                self.assertEqual(ws.close_code, 1001)

        server = self.serve(redd.EXAMPLES / "echo.c", "--parallel=2")
        asyncio.run(scene(server))
        server.wait()

    def test_a_response_in_work_is_finished(self):
        server = self.serve(redd.APPS / "slow.c")
        with server.connect() as sock:
            sock.sendall(KEEP_ALIVE)
            begun = redd.read_until(sock, b"begin\n")
            server.send()
            rest = redd.read_all(sock)
        self.assertTrue(begun.startswith(b"HTTP/1.1 200 OK\r\n"))
        self.assertTrue(rest.endswith(b"end\n\r\n0\r\n\r\n"), rest)
        self.assertNotIn("did not end in time", server.wait())

    def test_nobody_gets_in_any_more(self):
        server = self.serve(redd.APPS / "slow.c")
        with server.connect() as sock:
            sock.sendall(KEEP_ALIVE)
            redd.read_until(sock, b"begin\n")
            server.send()
            server.stderr.wait("redd serve: stopping")
            redd.read_all(sock)
        server.wait()
        with self.assertRaises(ConnectionRefusedError):
            server.connect()

    def test_the_second_signal_kills(self):
        for first, second in (
            (signal.SIGTERM, signal.SIGTERM),
            (signal.SIGTERM, signal.SIGINT),
            (signal.SIGINT, signal.SIGINT),
        ):
            server = self.serve(redd.APPS / "slow.c", "--parallel=2")
            with server.connect() as sock:
                sock.sendall(b"GET /never HTTP/1.1\r\nHost: x\r\n\r\n")
                redd.read_until(sock, b"begin\n")
                server.send(first)
                server.stderr.wait("redd serve: stopping")
                server.send(second)
                server.wait(expect=-second)

    def test_the_second_signal_kills_what_is_stuck(self):
        for first in (signal.SIGTERM, signal.SIGINT):
            for second in (signal.SIGTERM, signal.SIGINT):
                server = self.serve(redd.APPS / "stuck.c")
                with server.connect() as sock:
                    sock.sendall(KEEP_ALIVE)
                    server.stderr.wait("stuck")
                    server.send(first)
                    server.stderr.wait("woken")
                    server.send(second)
                    server.wait(expect=-second)

    def test_what_does_not_end_is_forced_and_counted(self):
        server = self.serve(redd.APPS / "slow.c")
        with server.connect() as sock:
            sock.sendall(b"GET /never HTTP/1.1\r\nHost: x\r\n\r\n")
            redd.read_until(sock, b"begin\n")
            text = server.stop()
        self.assertRegex(text, r"\nredd serve: stopped; tasks that did not end in time and were dropped: [1-9]\d*\n$")

    def test_a_reader_of_stderr_that_leaves(self):
        process = subprocess.Popen(
            [redd.PROGRAM, "serve", "--host=127.0.0.1", "--port=0", redd.EXAMPLES / "hello.c"],
            env=redd.environment(),
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertIn("Listening", process.stderr.readline())
        process.stderr.close()
        process.terminate()
        self.assertEqual(process.wait(redd.PATIENCE), 0)

    def test_upgrades_in_the_race_with_a_stop(self):
        """Nothing outlives the drain: who got in is told 1001, the others are refused."""

        async def client(server, counts):
            while True:
                try:
                    ws = await websockets.connect(server.url("/", "ws"))
                except (OSError, websockets.InvalidHandshake) as refusal:
                    status = getattr(refusal, "status_code", None)
                    self.assertIn(status, (None, 503), refusal)
                    if status is None and not isinstance(refusal, websockets.InvalidMessage):
                        return  # nobody listens any more
                    continue
                counts["opened"] += 1
                if counts["opened"] == 100:
                    server.send()
                if counts["opened"] % 2:
                    await ws.close()
                else:
                    await ws.wait_closed()
                    self.assertEqual(ws.close_code, 1001)
                    counts["told"] += 1

        async def scene(server):
            counts = {"opened": 0, "told": 0}
            clients = (client(server, counts) for _ in range(60))
            await asyncio.wait_for(asyncio.gather(*clients), redd.PATIENCE)
            self.assertGreaterEqual(counts["opened"], 100)
            self.assertGreater(counts["told"], 20)

        for _ in range(5):
            server = self.serve(redd.EXAMPLES / "echo.c", "--parallel=2")
            asyncio.run(scene(server))
            self.assertNotIn("did not end in time", server.wait())

    def test_start_and_stop_under_load(self):
        server = self.serve(redd.EXAMPLES / "echo.c", "--parallel=2")
        wrk = subprocess.Popen(
            ["wrk", "-t1", "-c16", "-d1s", server.url()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        with server.connect() as sock:  # the load has begun once a request of ours has had to queue with it
            for _ in range(100):
                sock.sendall(KEEP_ALIVE)
                self.assertEqual(redd.read_response(sock)[0], 200)
        server.stop()
        wrk.communicate(timeout=redd.PATIENCE)


if __name__ == "__main__":
    redd.main()
