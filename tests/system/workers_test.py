# SPDX-License-Identifier: MIT
"""Several workers, few descriptors."""

import collections
import os
import pathlib
import re
import time

import redd

CLOSING = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


class Balance(redd.TemporaryCase):
    def served_by(self, balance, connections):
        """How many connections each of 4 workers has had."""
        server = self.serve(redd.APPS / "life.c", "--parallel=4", f"--balance={balance}")
        counts = collections.Counter(redd.request(server, CLOSING)[2] for _ in range(connections))
        server.stop()
        self.assertLessEqual(set(counts), {b"0", b"1", b"2", b"3"})
        return counts

    def test_reuseport_spreads_evenly(self):
        counts = self.served_by("reuseport", 2000)
        self.assertLessEqual(max(counts.values()), 1.3 * 2000 / 4, counts)

    def test_shared_serves_everybody(self):
        self.assertEqual(sum(self.served_by("shared", 500).values()), 500)


class Descriptors(redd.TemporaryCase):
    LIMIT = 64

    def cpu_seconds(self, server):
        fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_running_out_of_them(self):
        """At the limit: hardly any CPU, one log line a second; once they are free again: service."""
        command = ["prlimit", f"--nofile={self.LIMIT}", redd.PROGRAM, "serve", "--host=127.0.0.1", "--port=0"]
        server = redd.Process([*command, redd.EXAMPLES / "hello.c"])
        self.addCleanup(server.abandon)
        crowd = [server.connect() for _ in range(2 * self.LIMIT)]
        server.stderr.wait("too many open files")
        began, used = time.monotonic(), self.cpu_seconds(server)
        time.sleep(2)  # what is measured, not waited for
        elapsed, used = time.monotonic() - began, self.cpu_seconds(server) - used
        self.assertLess(used / elapsed, 0.05, "of a CPU while it cannot accept")
        for sock in crowd:
            sock.close()
        began = time.monotonic()
        self.assertEqual(redd.request(server, CLOSING)[0], 200)
        self.assertLess(time.monotonic() - began, 5)
        lines = len(re.findall("too many open files", server.stop()))
        self.assertLessEqual(lines, elapsed + 4)


if __name__ == "__main__":
    redd.main()
