# SPDX-License-Identifier: MIT
"""WebSocket through Python's websockets and raw sockets."""

import asyncio
import os
import pathlib
import struct

import redd
import websockets

MASK = b"\x11\x22\x33\x44"
HANDSHAKE = (
    b"GET /room HTTP/1.1\r\nHost: example.org\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
ACCEPTED = b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def frame(opcode, payload=b"", fin=True, masked=True):
    first = (0x80 if fin else 0) | opcode
    mask_bit = 0x80 if masked else 0
    if len(payload) < 126:
        head = struct.pack("!BB", first, mask_bit | len(payload))
    elif len(payload) < 65536:
        head = struct.pack("!BBH", first, mask_bit | 126, len(payload))
    else:
        head = struct.pack("!BBQ", first, mask_bit | 127, len(payload))
    if not masked:
        return head + payload
    return head + MASK + bytes(byte ^ MASK[i % 4] for i, byte in enumerate(payload))


def close(code, reason=b""):
    return frame(8, struct.pack("!H", code) + reason)


def split_handshake(data):
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


class Client(redd.ServerCase):
    def connect(self, **options):
        return websockets.connect(self.server.url("/any", "ws"), max_size=None, **options)

    def play(self, scene):
        asyncio.run(asyncio.wait_for(scene(), redd.PATIENCE))

    def test_text_and_binary(self):
        async def scene():
            async with self.connect() as ws:
                for message in ("", "hello", "gr\u00fc\u00dfe \U0001f41f", b"", b"\x00\xff", "x" * 125, "x" * 126, b"y" * 65536):
                    await ws.send(message)
                    self.assertEqual(await ws.recv(), message)

        self.play(scene)

    def test_large_messages(self):
        async def scene():
            text, binary = "\u00e9" * (1 << 19), os.urandom(1 << 20)
            async with self.connect() as ws:
                await ws.send(text)
                await ws.send(binary)
                self.assertEqual(await ws.recv(), text)
                self.assertEqual(await ws.recv(), binary)

        self.play(scene)

    def test_many_in_flight_keep_their_order(self):
        async def scene():
            async with self.connect() as ws:
                for i in range(1000):
                    await ws.send(str(i))
                self.assertEqual([await ws.recv() for _ in range(1000)], [str(i) for i in range(1000)])

        self.play(scene)

    def test_fragments_arrive_as_one_message(self):
        async def scene():
            async with self.connect() as ws:
                await ws.send(["one ", "two ", "", "three"])
                self.assertEqual(await ws.recv(), "one two three")
                await ws.send([b"\x01", b"\x02"])
                self.assertEqual(await ws.recv(), b"\x01\x02")

        self.play(scene)

    def test_ping_is_answered_with_its_payload(self):
        async def scene():
            async with self.connect() as ws:
                await asyncio.wait_for(await ws.ping(b"are you there"), redd.PATIENCE)

        self.play(scene)

    def test_close_codes_come_back(self):
        async def scene():
            for code, reason in ((1000, "done"), (1001, ""), (1011, "\u00e9"), (3000, "library"), (4999, "r" * 120)):
                async with self.connect() as ws:
                    await ws.close(code, reason)
                    self.assertEqual(ws.close_code, code)

        self.play(scene)

    def test_many_clients(self):
        async def client(i):
            async with self.connect() as ws:
                for j in range(20):
                    await ws.send(f"{i} {j}")
                    self.assertEqual(await ws.recv(), f"{i} {j}")

        async def scene():
            await asyncio.gather(*(client(i) for i in range(50)))

        self.play(scene)

    def test_foreign_origin_is_refused(self):
        async def scene():
            with self.assertRaises(websockets.InvalidStatusCode) as caught:
                async with self.connect(origin="http://evil.example"):
                    pass
            self.assertEqual(caught.exception.status_code, 403)
            async with self.connect(origin=f"http://{self.server.host}:{self.server.port}") as ws:
                await ws.send("own")
                self.assertEqual(await ws.recv(), "own")

        self.play(scene)


class Raw(redd.ServerCase):
    def exchange(self, frames):
        with self.server.connect() as sock:
            sock.sendall(HANDSHAKE + frames)
            head, rest = split_handshake(redd.read_all(sock))
            self.assertTrue(head.startswith(b"HTTP/1.1 101 Switching Protocols\r\n"), head)
            self.assertIn(ACCEPTED, head)
            return rest

    def test_handshake_and_frames_cut_at_every_byte(self):
        sent = (
            frame(1, b"h\xc3\xa9llo")
            + frame(2, b"fir", fin=False)
            + frame(9, b"ping")
            + frame(0, b"", fin=False)
            + frame(0, b"st")
            + frame(1, b"x" * 130)
            + close(1000, b"b\xc3\xbfe")
        )
        expected = (
            frame(1, b"h\xc3\xa9llo", masked=False)
            + frame(10, b"ping", masked=False)
            + frame(2, b"first", masked=False)
            + frame(1, b"x" * 130, masked=False)
            + frame(8, struct.pack("!H", 1000), masked=False)
        )
        # A close reply may repeat the reason or leave it out (RFC 6455 5.5.1).
        with_reason = expected[: -len(frame(8, b"xx", masked=False))] + frame(
            8, struct.pack("!H", 1000) + b"b\xc3\xbfe", masked=False
        )
        count = 0
        for cut, answer in redd.pieces_at_every_cut(self.server, HANDSHAKE + sent):
            head, rest = split_handshake(answer)
            with self.subTest(cut=cut):
                self.assertIn(ACCEPTED, head)
                self.assertIn(rest, (expected, with_reason))
            count += 1
        self.assertEqual(count, len(HANDSHAKE) + len(sent) - 1)

    def test_violations_get_their_code(self):
        cases = {
            "unmasked": (frame(1, b"x", masked=False), 1002),
            "reserved bit": (bytes([0xC1]) + frame(1, b"x")[1:], 1002),
            "reserved opcode": (frame(3, b"x"), 1002),
            "reserved control opcode": (frame(11, b"x"), 1002),
            "fragmented ping": (frame(9, b"x", fin=False), 1002),
            "long ping": (frame(9, b"x" * 126), 1002),
            "continuation of nothing": (frame(0, b"x"), 1002),
            "text inside a message": (frame(1, b"x", fin=False) + frame(1, b"y"), 1002),
            "length not minimal": (bytes([0x81, 0xFE, 0, 1]) + MASK + b"\x00", 1002),
            "top bit of the length": (bytes([0x82, 0xFF, 0x80]) + bytes(7) + MASK, 1002),
            "close of one byte": (frame(8, b"\x03"), 1002),
            "close with 1005": (close(1005), 1002),
            "close with 999": (close(999), 1002),
            "text that is not UTF-8": (frame(1, b"\xff"), 1007),
            "text cut in a character": (frame(1, b"\xc3"), 1007),
            "reason that is not UTF-8": (close(1000, b"\xff"), 1007),
            "message over the limit": (bytes([0x82, 0xFF]) + struct.pack("!Q", 1 << 40) + MASK, 1009),
        }
        for name, (data, code) in cases.items():
            with self.subTest(name):
                rest = self.exchange(data)
                self.assertEqual(rest[:1], b"\x88", rest)
                self.assertEqual(struct.unpack("!H", rest[2:4])[0], code)

    def test_close_without_a_code(self):
        self.assertEqual(self.exchange(frame(8)), frame(8, masked=False))

    def test_codes_1012_to_1014_are_accepted(self):
        for code in (1012, 1013, 1014):
            self.assertEqual(self.exchange(close(code))[2:4], struct.pack("!H", code))

    def test_bad_handshakes(self):
        cases = {
            HANDSHAKE.replace(b"Version: 13", b"Version: 8"): 426,
            HANDSHAKE.replace(b"dGhlIHNhbXBsZSBub25jZQ==", b"c2hvcnQ="): 400,
            HANDSHAKE.replace(b"Sec-WebSocket-Key", b"X-Key"): 400,
            HANDSHAKE.replace(b"GET", b"POST"): 405,
        }
        for data, expected in cases.items():
            with self.subTest(data=data[:40], status=expected):
                status, fields, _ = redd.request(self.server, data)
                self.assertEqual(status, expected)
                if expected == 426:
                    self.assertEqual(fields["sec-websocket-version"], "13")

    def test_announced_sizes_reserve_nothing(self):
        sockets = []
        for _ in range(100):
            sock = self.server.connect()
            sock.sendall(HANDSHAKE + bytes([0x82, 0xFF]) + struct.pack("!Q", 16 << 20) + MASK)
            sockets.append(sock)
        redd.request(self.server, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
        resident = int(status.split("VmRSS:")[1].split()[0])
        self.assertLess(resident, 1 << 20, "KiB resident for 100 announced messages of 16 MiB")
        for sock in sockets:
            sock.close()


if __name__ == "__main__":
    redd.main()
