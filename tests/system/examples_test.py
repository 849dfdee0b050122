# SPDX-License-Identifier: MIT
"""Every example does what its head says."""

import asyncio
import signal
import socket
import struct
import subprocess

import redd
import websockets

EXTENSION = redd.EXAMPLES / "extension"


def get(server, target, method=b"GET"):
    return redd.request(
        server, method + b" " + target.encode() + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    )


class Apps(redd.TemporaryCase):
    def test_hello(self):
        server = self.serve(redd.EXAMPLES / "hello.c", "--parallel=2")
        status, fields, body = get(server, "/any")
        self.assertEqual((status, fields["content-type"], body), (200, "text/plain; charset=utf-8", b"Hello\n"))
        server.stop()

    def test_echo(self):
        server = self.serve(redd.EXAMPLES / "echo.c")
        status, fields, body = get(server, "/")
        self.assertEqual((status, fields["content-type"]), (200, "text/html; charset=utf-8"))
        self.assertNotIn(b"src=", body)  # nothing is loaded from elsewhere
        self.assertNotIn(b"http:", body)
        self.assertNotIn(b"https:", body)
        self.assertEqual(get(server, "/elsewhere")[0], 404)
        self.assertEqual(get(server, "/", b"DELETE")[0], 404)
        server.stop()

    def test_chat_reaches_everyone_in_the_room_on_every_worker(self):
        async def scene(server):
            async def enter(room):
                return await websockets.connect(server.url(room, "ws"))

            # Enough for both workers to have some, whichever way they are spread.
            people = [await enter("/") for _ in range(24)]
            elsewhere = await enter("/kitchen")
            for i, speaker in enumerate(people[:4]):
                await speaker.send(f"guest: {i}")
                for person in people:
                    self.assertEqual(await asyncio.wait_for(person.recv(), redd.PATIENCE), f"guest: {i}")
            await elsewhere.send("cook: alone")
            self.assertEqual(await elsewhere.recv(), "cook: alone")
            await people.pop().close()
            await people[0].send("guest: one has left")
            for person in people:
                self.assertEqual(await asyncio.wait_for(person.recv(), redd.PATIENCE), "guest: one has left")
            await people[0].send(b"binary")
            await people[0].wait_closed()
            self.assertEqual(people[0].close_code, 1003)
            server.send()
            for person in people[1:]:
                await person.wait_closed()
                self.assertEqual(person.close_code, 1001)

        for flags in ((), ("--parallel=2", "--balance=reuseport"), ("--parallel=2", "--balance=shared")):
            server = self.serve(redd.EXAMPLES / "chat.c", *flags)
            self.assertIn(b"<title>redd chat</title>", get(server, "/kitchen")[2])
            asyncio.run(scene(server))
            server.wait()

    def test_chat_refuses_a_bad_handshake(self):
        server = self.serve(redd.EXAMPLES / "chat.c")
        for _ in range(3):
            answer = redd.request(server, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
            self.assertIn(answer[0], (400, 426))
        server.stop()

    def test_api(self):
        def post(topic, text, token="sesame", kind="application/x-www-form-urlencoded"):
            return redd.request(
                server,
                f"POST /topics/{topic} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n"
                f"Content-Type: {kind}\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode(),
            )[0]

        def watch():
            sock = server.connect()
            sock.sendall(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertIn(b"text/event-stream", redd.read_until(sock, b"\r\n\r\n"))
            return sock

        server = self.serve(redd.EXAMPLES / "api.c")
        watchers = [watch(), watch()]
        self.assertEqual(post("news", "text=Hello&text=again"), 201)
        for sock in watchers:
            for text in (b"event: news\nid: 1\ndata: Hello\n\n", b"event: news\nid: 2\ndata: again\n\n"):
                self.assertEqual(redd.read_until(sock, b"\n\n\r\n"), b"%x\r\n%s\r\n" % (len(text), text))
        status, fields, body = get(server, "/")
        self.assertEqual((status, fields["content-type"], body), (200, "application/json", b'{"notices":2}'))
        self.assertEqual(post("news", "text=x", token="guess"), 401)
        self.assertEqual(post("news", "x", kind="text/plain"), 415)
        self.assertEqual(post("news", "text=%"), 400)
        self.assertEqual(get(server, "/topics/news")[0], 401)
        self.assertEqual(get(server, "/events", b"PUT")[0], 405)
        self.assertEqual(get(server, "/nowhere")[0], 404)
        for _ in range(98):
            watchers.append(watch())
        self.assertEqual(get(server, "/events")[0], 503)
        for sock in watchers:
            sock.close()
        while get(server, "/events", b"HEAD")[0] == 503:
            pass  # until the server has seen it
        server.stop()


class Extension(redd.TemporaryCase):
    def served(self, *flags):
        return self.serve(EXTENSION / "app.c", "--ext", EXTENSION / "greet.c", *flags)

    def test_ops(self):
        done = redd.run("ops", "--ext", EXTENSION / "greet.c")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ +\d+  op_greet +sync +\(name: string\)$")
        self.assertRegex(done.stdout, r"(?m)^ +\d+  op_greet_later +async +\(name: string\)$")

    def test_both_ops(self):
        server = self.served("--parallel=2", "--set", "greet.delay=20ms")
        for path in ("/now", "/later"):
            self.assertEqual(get(server, path + "?Ada")[::2], (200, b"Hello, Ada!"))
        server.stop()

    def test_the_module_that_cmake_builds(self):
        module = redd.BUILD / "examples" / "extension" / "greet.so"
        server = self.serve(EXTENSION / "app.c", "--ext", module)
        self.assertEqual(get(server, "/now?you")[2], b"Hello, you!")
        server.stop()

    def test_a_client_that_resets_its_connection(self):
        server = self.served("--set", "greet.delay=1m")
        for _ in range(3):
            with server.connect() as sock:
                sock.sendall(b"GET /later?Ada HTTP/1.1\r\nHost: x\r\n\r\n")
                # The server has read it once it has answered what came behind it elsewhere.
                self.assertEqual(get(server, "/now?Ada")[0], 200)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.assertEqual(get(server, "/now?Ada")[0], 200)
        self.assertNotIn("did not end in time", server.stop(), "the ops of lost requests are to be cancelled")

    def test_without_the_extension(self):
        done = redd.run("serve", "--port=0", EXTENSION / "app.c")
        self.assertEqual(done.returncode, 1)
        self.assertIn("app.c needs --ext greet.c", done.stderr)


class Programs(redd.TemporaryCase):
    def start(self, name, *arguments):
        program = redd.Process([redd.BUILD / "examples" / name / name, *arguments])
        self.addCleanup(program.abandon)
        return program

    def test_embed(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            program = self.start("embed", "0")
            counts = [int(get(program, "/")[2].split()[0]) for _ in range(3)]
            self.assertEqual(counts, sorted(counts))
            with program.connect():  # a silent client must not keep it from ending
                text = program.stop(number)
            self.assertIn("embed: 3 requests\n", text)

    def test_embed_with_a_port_in_use(self):
        first = self.start("embed", "0")
        done = subprocess.run(
            [redd.BUILD / "examples" / "embed" / "embed", str(first.port)],
            capture_output=True,
            text=True,
            timeout=redd.PATIENCE,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("address already in use", done.stderr)
        redd.check_stderr(done.stderr)
        first.stop()

    def test_host(self):
        command = subprocess.Popen(
            [redd.BUILD / "examples" / "host" / "host", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=redd.environment(),
        )
        with command:
            self.addCleanup(command.kill)
            port = int(command.stderr.readline().rsplit(":", 1)[1].strip("/\n"))
            body = subprocess.run(
                ["curl", "-sS", "-i", f"http://127.0.0.1:{port}/hello?a=b"],
                capture_output=True,
                text=True,
                timeout=redd.PATIENCE,
            ).stdout
            self.assertEqual(command.wait(redd.PATIENCE), 0)
            out, err = command.stdout.read(), command.stderr.read()
        self.assertEqual(err, "")
        self.assertIn("Content-Type: text/plain", body)
        self.assertTrue(body.endswith("Hello from ops\n"), body)
        self.assertIn("op_http_serve/2", out)
        self.assertTrue(out.endswith("method: GET\nurl: /hello?a=b\n"), out)


if __name__ == "__main__":
    redd.main()
