# SPDX-License-Identifier: MIT
"""Behind proxies: HAProxy, and curl as one, name the client by the PROXY protocol and by fields."""

import os
import socket
import subprocess

import redd

HAPROXY = os.environ["REDD_HAPROXY"]

CONFIGURATION = """
global
    maxconn 100
defaults
    mode http
    timeout connect {patience}s
    timeout client {patience}s
    timeout server {patience}s
frontend in
    bind fd@{listening}
    # The client that is played: its address stands in the request.
    http-request set-src hdr(Test-Source)
    http-request set-src-port hdr(Test-Port)
    http-request del-header Test-Source
    http-request del-header Test-Port
    default_backend out
backend out
    http-reuse never
    {backend}
    server redd 127.0.0.1:{port} {server}
"""


class Haproxy:
    """In front of a server, on a socket that it is given."""

    def __init__(self, folder, server, backend="", flags=""):
        self.listener = socket.create_server(("127.0.0.1", 0))
        configuration = folder / "haproxy.cfg"
        configuration.write_text(
            CONFIGURATION.format(
                listening=self.listener.fileno(), port=server.port, backend=backend, server=flags, patience=redd.PATIENCE
            )
        )
        self.process = subprocess.Popen(
            [HAPROXY, "-db", "-f", str(configuration)],
            pass_fds=[self.listener.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.host, self.port = self.listener.getsockname()

    def ask(self, *fields, source="198.51.100.9", port=4711):
        """What the app says of a request that comes from `source`."""
        arguments = ["--header", f"Test-Source: {source}", "--header", f"Test-Port: {port}"]
        for field in fields:
            arguments += ["--header", field]
        return who(f"http://{self.host}:{self.port}/", *arguments)

    def stop(self):
        self.process.terminate()
        _, said = self.process.communicate(timeout=redd.PATIENCE)
        self.listener.close()
        return said


def who(url, *arguments):
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--fail", "--max-time", str(redd.PATIENCE), *arguments, url],
        capture_output=True,
        text=True,
        timeout=redd.PATIENCE,
    )
    if done.returncode != 0:
        raise AssertionError(f"curl ended with {done.returncode}: {done.stderr}")
    return done.stdout.split(" ")


class ProxyCase(redd.TemporaryCase):
    def begin(self, *settings):
        flags = [part for setting in settings for part in ("--set", setting)]
        self.server = self.serve(redd.APPS / "who.c", *flags)

    def haproxy(self, backend="", flags=""):
        proxy = Haproxy(self.folder, self.server, backend, flags)
        self.addCleanup(proxy.stop)
        return proxy

    def tearDown(self):
        self.server.stop()


class ByHaproxy(ProxyCase):
    def play(self, flags):
        self.begin("http.trusted=127.0.0.1", "http.proxy_protocol=on")
        proxy = self.haproxy(flags=flags)
        client, port, scheme, _, peer, _ = proxy.ask()
        self.assertEqual((client, port, scheme, peer), ("198.51.100.9", "4711", "http", "127.0.0.1"))
        for source in ("203.0.113.1", "192.0.2.255", "8.8.8.8"):
            self.assertEqual(proxy.ask(source=source)[0], source)
        # What the client says itself is the client's word.
        spoofed = proxy.ask("X-Forwarded-For: 6.6.6.6", "Forwarded: for=6.6.6.6", "X-Request-Id: theirs")
        self.assertEqual(spoofed[0], "198.51.100.9")
        self.assertNotEqual(spoofed[5], "theirs")
        return proxy

    def test_version_1(self):
        self.play("send-proxy")

    def test_version_2(self):
        proxy = self.play("send-proxy-v2")
        self.assertEqual(proxy.ask(source="2001:db8::9")[:2], ["2001:db8::9", "4711"])

    def test_version_2_with_extras(self):
        self.play("send-proxy-v2-ssl-cn proxy-v2-options crc32c,unique-id,authority")

    def test_health_checks_are_harmless(self):
        self.begin("http.trusted=127.0.0.1", "http.proxy_protocol=on")
        proxy = self.haproxy(flags="send-proxy-v2 check inter 10ms rise 1 fall 1")
        for _ in range(20):
            self.assertEqual(proxy.ask()[0], "198.51.100.9")

    def test_x_forwarded_for(self):
        self.begin("http.trusted=127.0.0.1")
        proxy = self.haproxy(
            backend="option forwardfor\n    http-request set-header X-Forwarded-Proto https\n"
            "    http-request set-header X-Forwarded-Host public.example\n"
            "    http-request set-header X-Request-Id from-the-proxy"
        )
        client, _, scheme, host, peer, name = proxy.ask()
        self.assertEqual((client, scheme, host, peer), ("198.51.100.9", "https", "public.example", "127.0.0.1"))
        self.assertEqual(name, "from-the-proxy")
        # HAProxy adds a field of its own behind the client's.
        self.assertEqual(proxy.ask("X-Forwarded-For: 6.6.6.6")[0], "198.51.100.9")
        # A field that the proxy lets pass is of nobody known: then neither counts.
        self.assertEqual(proxy.ask("Forwarded: for=6.6.6.6")[0], "127.0.0.1")

    def test_forwarded(self):
        self.begin("http.trusted=127.0.0.1")
        proxy = self.haproxy(
            backend="http-request add-header Forwarded for=%[src];proto=https;host=public.example"
        )
        self.assertEqual(proxy.ask()[:4], ["198.51.100.9", "0", "https", "public.example"])
        self.assertEqual(proxy.ask("Forwarded: for=6.6.6.6")[0], "198.51.100.9")
        self.assertEqual(proxy.ask('Forwarded: for="6.6.6.6')[0], "198.51.100.9")

    def test_two_proxies(self):
        self.begin("http.trusted=127.0.0.1, 198.51.100.9")
        proxy = self.haproxy(backend="option forwardfor")
        self.assertEqual(proxy.ask("X-Forwarded-For: 6.6.6.6, 203.0.113.77")[0], "203.0.113.77")

    def test_nobody_is_trusted(self):
        self.begin()
        proxy = self.haproxy(backend="option forwardfor")
        self.assertEqual(proxy.ask()[0], "127.0.0.1")


class ByCurl(ProxyCase):
    def test_proxy_protocol(self):
        self.begin("http.trusted=127.0.0.0/8", "http.proxy_protocol=on")
        client, port, _, _, peer, _ = who(self.server.url(), "--haproxy-protocol")
        self.assertEqual((client, peer), ("127.0.0.1", "127.0.0.1"))
        self.assertGreater(int(port), 0)

    def test_without_a_header(self):
        self.begin("http.trusted=127.0.0.0/8", "http.proxy_protocol=on")
        with self.server.connect() as sock:
            sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertEqual(redd.read_all(sock), b"")

    def test_cut_at_every_byte(self):
        self.begin("http.trusted=127.0.0.0/8", "http.proxy_protocol=on", "http.head_timeout=1h")
        header = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0f" + bytes([198, 51, 100, 9, 127, 0, 0, 1, 18, 103, 0, 80]) + b"\x04\0\0"
        request = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        socks = []
        for cut in range(1, len(header) + 3):
            sock = self.server.connect()
            sock.sendall((header + request)[:cut])
            socks.append((cut, sock))
        # A whole exchange shows that the server has been through the first halves.
        with self.server.connect() as sock:
            sock.sendall(header + request)
            redd.read_all(sock)
        for cut, sock in socks:
            with self.subTest(cut=cut), sock:
                sock.sendall((header + request)[cut:])
                self.assertTrue(redd.read_all(sock).partition(b"\r\n\r\n")[2].startswith(b"198.51.100.9 4711 http"))

    def test_unix_sockets(self):
        path = self.folder / "socket"
        self.server = self.serve(redd.APPS / "who.c", f"--unix={path}", "--set=http.trusted=unix")
        through = ("--unix-socket", path)
        forwarded = ("--header", "X-Forwarded-For: 198.51.100.9")
        self.assertEqual(who(self.server.url(), *through)[0], "unix")
        self.assertEqual(who(self.server.url(), *through, *forwarded)[0], "198.51.100.9")
        self.assertEqual(who(self.server.url(), *forwarded)[0], "127.0.0.1")

    def test_proxy_protocol_over_a_unix_socket(self):
        path = self.folder / "socket"
        flags = ("--set=http.trusted=unix", "--set=http.proxy_protocol=on")
        self.server = self.serve(redd.APPS / "who.c", f"--unix={path}", *flags)
        self.assertEqual(who(self.server.url(), "--unix-socket", path, "--haproxy-protocol")[0], "unix")
        self.assertEqual(who(self.server.url())[0], "127.0.0.1")

    def test_request_ids_are_unique_over_workers(self):
        self.server = self.serve(redd.APPS / "who.c", "--parallel=4", "--set", "http.request_id=on")
        seen = set()
        for _ in range(40):
            with self.server.connect() as sock:
                for _ in range(25):
                    sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                    _, fields, body = redd.read_response(sock)
                    self.assertEqual(fields["x-request-id"], body.decode().split(" ")[5])
                    seen.add(fields["x-request-id"])
        self.assertEqual(len(seen), 1000)


class Refused(redd.TemporaryCase):
    def refuse(self, *settings):
        flags = [part for setting in settings for part in ("--set", setting)]
        done = redd.run("serve", "--host", "127.0.0.1", "--port", "0", *flags, redd.APPS / "who.c")
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_networks_that_are_none(self):
        said = self.refuse("http.trusted=10.0.0.0/8, 10.0.0.0/80")
        self.assertIn('http.trusted: "10.0.0.0/80" is no network; expected', said)

    def test_proxy_protocol_from_nobody(self):
        self.assertIn("http.trusted names no network", self.refuse("http.proxy_protocol=on"))


if __name__ == "__main__":
    redd.main()
