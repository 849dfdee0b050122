# SPDX-License-Identifier: MIT
"""Compressed responses through curl and Python, compressed requests from the codings' own programs."""

import gzip
import re
import subprocess
import zlib

import redd
from http_test import curl

FLAGS = ("--set", "http.compress=on")


def program(*command):
    def run(data):
        return subprocess.run(command, input=data, capture_output=True, check=True, timeout=redd.PATIENCE).stdout

    return run


def bare_deflate(data):
    coder = zlib.compressobj(wbits=-15)
    return coder.compress(data) + coder.flush()


def decoder_of(coding):
    return {"gzip": gzip.decompress, "br": program("brotli", "-d", "-c"), "zstd": program("zstd", "-d", "-c")}[coding]


ENCODERS = (
    ("gzip", gzip.compress),
    ("x-gzip", program("gzip", "-9", "-c")),
    ("deflate", zlib.compress),
    ("deflate", bare_deflate),
    ("br", program("brotli", "-q", "9", "-c", "-")),
    ("zstd", program("zstd", "-q", "-19", "-c", "-")),
    ("zstd", program("zstd", "-q", "-3", "--check", "-c", "-")),
)
BOTH = (
    ("br, gzip", lambda data: gzip.compress(ENCODERS[4][1](data))),
    ("gzip, zstd", lambda data: ENCODERS[5][1](gzip.compress(data))),
)


def codings_of_curl():
    features = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True).stdout
    return [c for c, name in (("gzip", "libz"), ("br", "brotli"), ("zstd", "zstd")) if name in features]


def split(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    fields = {}
    for line in head.decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(":")
        fields.setdefault(name.lower(), []).append(value.strip())
    return {name: ", ".join(values) for name, values in fields.items()}, body


class Responses(redd.ServerCase):
    app = redd.APPS / "coding.c"
    flags = FLAGS

    def plain(self, path):
        return curl(self.server, path=path)

    def test_curl_decodes_what_it_asks_for(self):
        self.assertIn("gzip", codings_of_curl())
        for path in ("/whole?3000", "/whole?100000", "/whole?4000000", "/stream?1", "/stream?100000"):
            plain = self.plain(path)
            for coding in codings_of_curl():
                with self.subTest(path=path, coding=coding):
                    asked = ("--header", f"Accept-Encoding: {coding}", "--include", "--compressed")
                    fields, body = split(curl(self.server, *asked, path=path))
                    self.assertEqual(fields["content-encoding"], coding)
                    self.assertEqual(fields["vary"], "Accept-Encoding")
                    self.assertEqual(fields["etag"], 'W/"1"')
                    self.assertEqual(body, plain)

    def test_curl_asks_for_all_and_gets_the_best(self):
        fields, body = split(curl(self.server, "--include", "--compressed", path="/whole?100000"))
        best = [c for c in ("zstd", "br", "gzip") if c in codings_of_curl()][0]
        self.assertEqual(fields["content-encoding"], best)
        self.assertEqual(body, self.plain("/whole?100000"))

    def test_the_programs_of_the_codings_decode_it(self):
        for path in ("/whole?50000", "/stream?50000"):
            plain = self.plain(path)
            for coding in ("gzip", "br", "zstd"):
                with self.subTest(path=path, coding=coding):
                    coded = curl(self.server, "--header", f"Accept-Encoding: {coding}", path=path)
                    self.assertLess(len(coded), len(plain) * 2 / 3)
                    self.assertEqual(decoder_of(coding)(coded), plain)

    def test_head_tells_what_get_does(self):
        for path in ("/whole?50000", "/stream?50000", "/whole?100"):
            with self.subTest(path=path):
                asked = ("--header", "Accept-Encoding: br", "--include")
                get, _ = split(curl(self.server, *asked, path=path))
                head, body = split(curl(self.server, *asked, "--head", path=path))
                get.pop("date"), head.pop("date")
                self.assertEqual(head, get)
                self.assertEqual(body, b"")

    def test_http_1_0(self):
        fields, body = split(
            curl(self.server, "--http1.0", "--include", "--header", "Accept-Encoding: gzip", path="/stream?50000")
        )
        self.assertEqual(fields["connection"], "close")
        self.assertEqual(gzip.decompress(body), self.plain("/stream?50000"))

    def test_a_piece_can_be_decoded_while_the_next_is_not_there(self):
        with self.server.connect() as sock:
            sock.sendall(b"GET /waiting HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
            redd.read_until(sock, b"\r\n\r\n")
            decoder = zlib.decompressobj(31)
            seen = decoder.decompress(self.chunk(sock))
            self.assertEqual(seen, b"first")
            self.assertEqual(self.plain("/go"), b"gone")
            while piece := self.chunk(sock):
                seen += decoder.decompress(piece)
            self.assertTrue(decoder.eof)
            self.assertEqual(seen, b"firstsecond")

    def chunk(self, sock):
        size = int(redd.read_until(sock, b"\r\n"), 16)
        return redd.read_exactly(sock, size + 2)[:size]

    def test_nothing_is_compressed_for_who_does_not_ask(self):
        fields, body = split(curl(self.server, "--include", path="/whole?5000"))
        self.assertNotIn("content-encoding", fields)
        self.assertEqual(fields["vary"], "Accept-Encoding")
        self.assertEqual(fields["etag"], '"1"')
        self.assertEqual(len(body), 5000)


class Requests(redd.ServerCase):
    app = redd.APPS / "coding.c"
    flags = FLAGS

    def post(self, encoding, data, *more):
        fields = ("--header", f"Content-Encoding: {encoding}", "--header", "Expect:", *more)
        return curl(self.server, "--data-binary", "@-", "--write-out", "%{http_code}", *fields, stdin=data)

    def test_each_coding(self):
        data = curl(self.server, path="/whole?300000")
        for encoding, encode in ENCODERS + BOTH:
            for more in ((), ("--header", "Transfer-Encoding: chunked")):
                with self.subTest(encoding=encoding, more=more):
                    self.assertEqual(self.post(encoding, encode(data), *more), data + b"200")

    def test_curls_own_expectation(self):
        data = curl(self.server, path="/whole?3000000")
        coded = gzip.compress(data, 1)
        fields = ("--header", "Content-Encoding: gzip", "--header", "Expect: 100-continue")
        self.assertEqual(curl(self.server, "--data-binary", "@-", *fields, stdin=coded), data)

    def test_bombs(self):
        zeros = bytes(64 << 20)
        for encoding, encode in ENCODERS[:1] + ENCODERS[4:6]:
            with self.subTest(encoding=encoding):
                self.assertEqual(self.post(encoding, encode(zeros)), b"413")

    def test_what_cannot_be_decoded(self):
        self.assertEqual(self.post("gzip", gzip.compress(b"abc")[:-1]), b"400")
        self.assertEqual(self.post("gzip", gzip.compress(b"abc") + b"x"), b"400")
        self.assertEqual(self.post("br", b"\xff" * 100), b"400")
        self.assertEqual(self.post("compress", b"abc"), b"unknown coding415")


class Static(redd.TemporaryCase):
    def test_files_of_a_folder(self):
        text = "<p>the river and the salmon</p>\n" * 20000
        self.write("page.html", text)
        server = self.serve(redd.APPS / "files.c", *FLAGS, env={"FILES_ROOT": str(self.folder)})
        fields, body = split(curl(server, "--include", "--header", "Accept-Encoding: gzip", path="/page.html"))
        self.assertEqual(fields["content-encoding"], "gzip")
        self.assertRegex(fields["etag"], r'^W/"')
        self.assertNotIn("accept-ranges", fields)
        self.assertEqual(gzip.decompress(body).decode(), text)
        condition = ("--header", f"If-None-Match: {fields['etag']}", "--header", "Accept-Encoding: gzip")
        again, body = split(curl(server, "--include", *condition, path="/page.html"))
        self.assertEqual(again["etag"], fields["etag"])
        self.assertEqual(body, b"")
        part = ("--include", "--range", "0-9", "--header", "Accept-Encoding: gzip")
        fields, body = split(curl(server, *part, path="/page.html"))
        self.assertNotIn("content-encoding", fields)
        self.assertEqual(body.decode(), text[:10])
        self.assertTrue(re.fullmatch(r"bytes 0-9/\d+", fields["content-range"]))
        server.stop()


if __name__ == "__main__":
    redd.main()
