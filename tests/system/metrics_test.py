# SPDX-License-Identifier: MIT
"""Metrics against what clients have counted themselves, read by Prometheus' own parser."""

import collections
import random
import subprocess
import threading
import time

import redd
from prometheus_client.openmetrics.parser import text_string_to_metric_families

TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
SCRAPE = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
APP = redd.APPS / "metrics.c"


class Page:
    """A scrape: `page["name", "label=value"]` is a sample."""

    def __init__(self, text):
        self.families = list(text_string_to_metric_families(text))
        self.samples = {}
        for family in self.families:
            for sample in family.samples:
                labels = [f"{name}={value}" for name, value in sample.labels.items()]
                self.samples[(sample.name, *labels)] = sample.value

    def __getitem__(self, key):
        return self.samples[key if isinstance(key, tuple) else (key,)]

    def by(self, name):
        """The series of a metric with one label, without those that are zero."""
        return {key[1].partition("=")[2]: value for key, value in self.samples.items() if key[0] == name and value}

    def sum(self, name):
        return sum(value for key, value in self.samples.items() if key[0] == name)


def scrape(server):
    status, fields, body = redd.request(server, SCRAPE)
    assert (status, fields["content-type"]) == (200, TYPE), (status, fields)
    return Page(body.decode())


class Traffic:
    """What a crowd of clients has sent and got, to the byte."""

    def __init__(self):
        self.lock = threading.Lock()
        self.methods, self.classes = collections.Counter(), collections.Counter()
        self.sent = self.got = self.connections = 0

    def batch(self, sock, reader, requests):
        """Sends pipelined requests of (method, target, body), reads the responses."""
        data = b"".join(
            b"%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (method, target, len(body), body)
            for method, target, body in requests
        )
        sock.sendall(data)
        got, classes = 0, collections.Counter()
        for _method, target, body in requests:
            head = b"".join(iter(reader.readline, b"\r\n")) + b"\r\n"
            status = head.split()[1].decode()
            classes[status[0] + "xx"] += 1
            echoed = reader.read(len(body)) if target == b"/echo" else b""
            if target == b"/echo" and echoed != body:
                raise AssertionError(f"{body!r} came back as {echoed!r}")
            got += len(head) + len(echoed)
        with self.lock:
            self.methods.update(method.decode() for method, _, _ in requests)
            self.classes.update(classes)
            self.sent += len(data)
            self.got += got

    def client(self, server, seed, batches):
        chance = random.Random(seed)
        with server.connect() as sock, sock.makefile("rb") as reader:
            for _ in range(batches):
                self.batch(sock, reader, [self.request(chance) for _ in range(10)])
        with self.lock:
            self.connections += 1

    @staticmethod
    def request(chance):
        if chance.random() < 0.5:
            return b"POST", b"/echo", chance.randbytes(chance.randrange(300))
        return chance.choice((b"GET", b"DELETE", b"TRACE")), chance.choice((b"/200", b"/204", b"/301", b"/404", b"/503")), b""


class Counts(redd.TemporaryCase):
    def quiet(self, server):
        """A scrape at a time when nothing else is there, and how many it took."""
        for scrapes in range(1, 1000):
            page = scrape(server)
            busy = [page["redd_http_connections_open"], page["redd_http_requests_in_flight"], page["redd_websocket_open"]]
            if busy == [1, 1, 0]:
                return page, scrapes
            time.sleep(0.01)  # between two looks
        raise AssertionError("the server does not come to rest")

    def test_both_sides_count_the_same(self):
        """10,000 requests over 40 connections to 4 workers."""
        server = self.serve(APP, "--parallel=4")
        traffic = Traffic()
        clients = [threading.Thread(target=traffic.client, args=(server, seed, 25)) for seed in range(40)]
        for i in range(0, 40, 8):
            for thread in clients[i : i + 8]:
                thread.start()
            for thread in clients[i : i + 8]:
                thread.join(redd.PATIENCE)
        self.assertEqual((sum(traffic.methods.values()), traffic.connections), (10000, 40))
        page, scrapes = self.quiet(server)
        methods = dict(traffic.methods, other=traffic.methods["TRACE"], GET=traffic.methods["GET"] + scrapes)
        del methods["TRACE"]
        self.assertEqual(page.by("redd_http_requests_total"), methods)
        traffic.classes["2xx"] += scrapes - 1  # the response that holds the page is still to come
        self.assertEqual(page.by("redd_http_responses_total"), traffic.classes)
        self.assertEqual(page.by("redd_http_ends_total"), {"done": 10000 + scrapes - 1})
        self.assertEqual(page.by("redd_http_refused_total"), {})
        self.assertEqual(page["redd_http_request_duration_seconds_count"], 10000 + scrapes - 1)
        self.assertEqual(page["redd_http_connections_total"], 40 + scrapes)
        self.assertEqual(page.sum("redd_net_accepted_total"), 40 + scrapes)
        self.assertEqual(len([key for key in page.samples if key[0] == "redd_net_accepted_total"]), 4)
        self.assertEqual(page["redd_http_connection_requests_bucket", "le=1.0"], scrapes - 1)
        self.assertEqual(page["redd_http_connection_requests_sum"], 10000 + scrapes - 1)
        self.assertEqual(page["redd_net_received_bytes_total"], traffic.sent + scrapes * len(SCRAPE))
        echoed = traffic.methods["POST"]
        self.assertEqual(page.by("app_answers_total"), {"echo": echoed, "status": 10000 - echoed})
        self.assertEqual(page["redd_workers"], 4)
        server.stop()

    def test_bytes(self):
        """To the byte in both directions, the scrape itself included."""
        server = self.serve(APP)
        traffic = Traffic()
        traffic.client(server, 1, 20)
        with server.connect() as sock:
            sock.sendall(SCRAPE)
            data = redd.read_all(sock)
        page = Page(data.partition(b"\r\n\r\n")[2].decode())
        self.assertEqual(page["redd_net_received_bytes_total"], traffic.sent + len(SCRAPE))
        self.assertEqual(page["redd_net_sent_bytes_total"], traffic.got)
        server.stop()

    def test_wrk(self):
        """wrk forgets what is under way when its time is up: at most one request per connection."""
        server = self.serve(APP, "--parallel=2")
        command = ["wrk", "--threads", "1", "--connections", "16", "--duration", "2s", server.url("/200")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=redd.PATIENCE, check=True)
        counted = int(next(line.split()[0] for line in done.stdout.splitlines() if " requests in " in line))
        page, scrapes = self.quiet(server)
        got = page.by("redd_http_requests_total")["GET"] - scrapes
        self.assertGreaterEqual(got, counted)
        self.assertLessEqual(got, counted + 16)
        server.stop()

    def test_websockets(self):
        server = self.serve(redd.EXAMPLES / "echo.c", "--metrics", "/metrics")
        with server.connect() as sock:
            sock.sendall(UPGRADE)
            self.assertIn(b" 101 ", redd.read_until(sock, b"\r\n\r\n"))
            page = scrape(server)
            self.assertEqual((page["redd_websocket_open"], page["redd_websocket_connections_total"]), (1, 1))
            self.assertEqual((page["redd_http_upgrades_total"], page["redd_http_connections_open"]), (1, 1))
        page, _ = self.quiet(server)
        self.assertEqual((page["redd_websocket_open"], page["redd_websocket_connections_total"]), (0, 1))
        self.assertEqual(page.by("redd_http_responses_total")["1xx"], 1)
        server.stop()


class Text(redd.TemporaryCase):
    """Prometheus' own parser takes it all, and sees what was meant."""

    def test_families(self):
        server = self.serve(APP, "--parallel=2")
        page = scrape(server)
        families = {family.name: family for family in page.families}
        self.assertEqual(families["redd_http_requests"].type, "counter")
        self.assertEqual(families["redd_http_request_duration_seconds"].type, "histogram")
        self.assertEqual(families["redd_http_request_duration_seconds"].unit, "seconds")
        self.assertEqual(families["redd_build"].type, "info")
        self.assertEqual(families["app_answers"].documentation, 'Answers, by "kind".')
        self.assertEqual(page["redd_build_info", "version=" + redd.run("--version").stdout.split()[1]], 1)
        self.assertLess(abs(page["process_start_time_seconds"] - time.time()), 600)
        self.assertGreater(page["process_open_fds"], 3)
        server.stop()

    def test_methods_and_health(self):
        server = self.serve(APP)
        for path in ("metrics", "health"):
            status, fields, _ = redd.request(server, f"PUT /{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            self.assertEqual((status, fields["allow"]), (405, "GET, HEAD"))
        curl = ["curl", "--silent", "--head", server.url("/metrics")]
        head = subprocess.run(curl, capture_output=True, text=True, timeout=redd.PATIENCE, check=True).stdout
        self.assertIn(f"Content-Type: {TYPE}\n", head.replace("\r\n", "\n"))
        self.assertEqual(redd.request(server, SCRAPE.replace(b"metrics", b"health"))[::2], (200, b"ok\n"))
        server.stop()

    def test_declared_wrongly(self):
        """An app whose metric takes the name of another is refused in a sentence."""
        app = self.write("bad.c", APP.read_text().replace("app_answers", "redd_http_requests"))
        done = redd.run("serve", "--port=0", app)
        self.assertEqual(done.returncode, 1)
        self.assertIn('metric "redd_http_requests" of extension "app" is there already, in extension "http"', done.stderr)


if __name__ == "__main__":
    redd.main()
