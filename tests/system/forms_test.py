# SPDX-License-Identifier: MIT
"""Routes, forms and events through curl, Node's fetch, Python and Chromium's EventSource."""

import json
import os
import subprocess
import tempfile
import urllib.parse
import urllib.request
import zlib

import redd

APP = redd.APPS / "router.c"


def line(name, data, filename=None, content_type=""):
    shown = "-" if filename is None else filename.encode().hex()
    return f"{name.encode().hex()}|{shown}|{content_type}|{len(data)}|{zlib.adler32(data):08x}\n"


class Case(redd.ServerCase):
    app = APP

    def curl(self, path, *arguments, stdin=b"", expect=0):
        done = subprocess.run(
            ["curl", "--silent", "--show-error", "--max-time", str(redd.PATIENCE), *arguments, self.server.url(path)],
            input=stdin,
            capture_output=True,
            timeout=redd.PATIENCE,
        )
        self.assertEqual(done.returncode, expect, done.stderr.decode())
        return done.stdout.decode()


class Routes(Case):
    def test_curl_finds_its_way(self):
        self.assertEqual(self.curl("/users/7"), "/users/:id 7\n")
        self.assertEqual(self.curl("/files/a/b%20c/"), "/files/*path a/b%20c/\n")
        self.assertEqual(self.curl("/files/../x", "--path-as-is"), "/files/*path ../x\n")
        self.assertEqual(self.curl("/nowhere", "-w", "%{http_code}"), "Not Found\n404")
        self.assertEqual(self.curl("/users/%zz", "-w", "%{http_code}"), "Bad Request\n400")

    def test_methods(self):
        self.assertTrue(self.curl("/users/7", "--head").startswith("HTTP/1.1 200 OK\r\n"))
        for method, status in (("OPTIONS", "204 No Content"), ("DELETE", "405 Method Not Allowed")):
            answer = self.curl("/users/7", "-X", method, "-i")
            self.assertTrue(answer.startswith(f"HTTP/1.1 {status}\r\n"), answer)
            self.assertIn("\r\nAllow: GET, HEAD, OPTIONS\r\n", answer)
        answer = self.curl("", "-X", "OPTIONS", "--request-target", "*", "-i")
        self.assertTrue(answer.startswith("HTTP/1.1 204 No Content\r\n"), answer)
        self.assertIn("\r\nAllow: GET, HEAD, OPTIONS, POST\r\n", answer)

    def test_no_spelling_passes_the_guard(self):
        for path in ("/secret", "/secret/", "/secret/door", "/%73ecret/door", "/secre%74/%64oor", "/secret/nowhere"):
            self.assertEqual(self.curl(path, "-w", "%{http_code}"), "guarded\n403", path)
        for path in ("//secret/door", "/./secret/door", "/secret%2Fdoor", "/x/../secret/door", "/secrets"):
            self.assertEqual(self.curl(path, "--path-as-is", "-w", "%{http_code}"), "Not Found\n404", path)


class CurlForms(Case):
    def test_fields_and_files(self):
        big = os.urandom(5 << 20)
        odd = b"\r\n--\r\n-----\r\n" * 1000 + b"\r"
        with tempfile.TemporaryDirectory() as folder:
            for name, data in (("big.bin", big), ("odd.txt", odd), ("empty", b"")):
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(data)
            answer = self.curl(
                "/form",
                "-F",
                "text=hello world",
                "-F",
                f"file=@{folder}/big.bin;type=application/x-big",
                "-F",
                f"file=@{folder}/odd.txt",
                "-F",
                f"none=@{folder}/empty",
                "-F",
                "empty=",
            )
        self.assertEqual(
            answer,
            line("text", b"hello world")
            + line("file", big, "big.bin", "application/x-big")
            + line("file", odd, "odd.txt", "text/plain")
            + line("none", b"", "empty", "application/octet-stream")
            + line("empty", b""),
        )

    def test_names_with_everything(self):
        name = 'a"b;c=\\d ä'
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        for escape in ((), ("--form-escape",)):  # curl's own way, and backslashes as it was before
            answer = self.curl("/form", *escape, "-F", f'x=@-;filename="{quoted}"', stdin=b"1")
            self.assertEqual(answer, line("x", b"1", name), escape)

    def test_chunked_and_expect(self):
        data = os.urandom(300_000)
        for field in ("Transfer-Encoding: chunked", "Expect: 100-continue"):
            answer = self.curl("/form", "-H", field, "-F", "f=@-;filename=f", stdin=data)
            self.assertEqual(answer, line("f", data, "f"))

    def test_urlencoded(self):
        answer = self.curl("/form", "--data-urlencode", "a b=c&d=ä+", "-d", "e=1+2&&f&=g")
        self.assertEqual(answer, line("a b", "c&d=ä+".encode()) + line("e", b"1 2") + line("f", b"") + line("", b"g"))

    def test_refused(self):
        self.assertEqual(self.curl("/form", "-H", "Content-Type: text/plain", "-d", "x", "-w", " %{http_code}"), "ENOTSUP 415")
        kind = "Content-Type: multipart/form-data"
        self.assertEqual(self.curl("/form", "-H", kind, "-d", "x", "-w", " %{http_code}"), "EINVAL 415")
        self.assertEqual(
            self.curl("/form", "-H", kind + "; boundary=x", "-d", "--x", "-w", " %{http_code}"), "REDD_EMALFORMED 400"
        )
        self.assertEqual(self.curl("/few", "-F", "a=1"), line("a", b"1"))
        self.assertEqual(self.curl("/few", "-F", "a=" + "x" * 1000, "-o", "/dev/null", "-w", "%{http_code}"), "413")

    def test_cut_at_every_byte(self):
        body = (
            b'--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\none\r\n--X\r\n'
            b'--XX\r\nContent-Disposition: form-data; name="b"; filename="f"\r\n\r\n\r\n--XX--\r\n'
        )
        head = b"POST /form HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=XX\r\n"
        data = head + b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        for cut, answer in redd.pieces_at_every_cut(self.server, data):
            with self.subTest(cut=cut):
                text = answer.partition(b"\r\n\r\n")[2].decode()
                self.assertEqual(text, line("a", b"one\r\n--X") + line("b", b"", "f"))


class OtherClients(Case):
    def test_node_fetch(self):
        script = """
        const form = new FormData();
        const bytes = Uint8Array.from({length: 200000}, (_, i) => i * 7919 >> 5);
        form.append('text', 'hello\\r\\nworld');
        form.append('quote "\\r\\n', '1');
        form.append('file', new Blob([bytes], {type: 'image/png'}), 'a "b" \\\\ ä.png');
        form.append('file', new Blob([]), '');
        const url = process.argv[1];
        (async () => {
          const multipart = await (await fetch(url, {method: 'POST', body: form})).text();
          const pairs = new URLSearchParams([['a b', 'c&d'], ['ä', '+'], ['', '']]);
          const encoded = await (await fetch(url, {method: 'POST', body: pairs})).text();
          const empty = await fetch(url, {method: 'POST', body: new FormData()});
          console.log(JSON.stringify([multipart, encoded, empty.status, await empty.text()]));
        })();
        """
        done = subprocess.run(
            ["node", "-e", script, self.server.url("/form")], capture_output=True, text=True, timeout=redd.PATIENCE, check=True
        )
        multipart, encoded, status, empty = json.loads(done.stdout)
        data = bytes((i * 7919 >> 5) & 255 for i in range(200000))
        self.assertEqual(
            multipart,
            line("text", b"hello\r\nworld")
            + line('quote "\r\n', b"1")
            + line("file", data, 'a "b" \\ ä.png', "image/png")
            + line("file", b"", None, "application/octet-stream"),
        )
        self.assertEqual(encoded, line("a b", b"c&d") + line("ä", b"+") + line("", b""))
        self.assertEqual((status, empty), (200, ""))

    def test_python(self):
        data = urllib.parse.urlencode([("a", "1 2"), ("ü", "&=%"), ("b", "\r\n\0")]).encode()
        with urllib.request.urlopen(self.server.url("/form"), data, redd.PATIENCE) as answer:
            self.assertEqual(
                answer.read().decode(), line("a", b"1 2") + line("ü", b"&=%") + line("b", b"\r\n\0")
            )


class Events(Case):
    def test_curl(self):
        def tick(number):
            return f"event: tick\nid: {number}\ndata: line 1\ndata: line 2\n\n"

        self.assertEqual(self.curl("/events", "-N"), "retry: 20\n\n" + tick(1) + tick(2) + tick(3))
        self.assertEqual(
            self.curl("/events", "-N", "-H", "Last-Event-ID: 3"), "retry: 20\n\n" + tick(4) + tick(5) + tick(6)
        )
        head = self.curl("/events", "--head")
        self.assertIn("\r\nContent-Type: text/event-stream\r\n", head)
        self.assertIn("\r\nCache-Control: no-store\r\n", head)

    def test_a_client_that_goes_is_noticed_at_once(self):
        with self.server.connect() as sock:
            sock.sendall(b"GET /silence HTTP/1.1\r\nHost: x\r\n\r\n")
            redd.read_until(sock, b"\r\n\r\n")
        self.server.stderr.wait("silence ended: ECONNRESET")

    def test_heartbeat(self):
        with self.server.connect() as sock:
            sock.sendall(b"GET /silence?beat HTTP/1.1\r\nHost: x\r\n\r\n")
            redd.read_until(sock, b"\r\n\r\n")
            for _ in range(3):
                self.assertEqual(redd.read_exactly(sock, 8), b"3\r\n:\n\n\r\n")


if __name__ == "__main__":
    redd.main()
