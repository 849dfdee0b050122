# SPDX-License-Identifier: MIT
"""Runs the commands that README.md and docs/*.md show in marked blocks, page by page, in order:

    <!-- run -->        the ```sh block behind it ends with exit code 0
    <!-- serve -->      the ```sh block behind it starts a server, which lives until the next one or the
                        page's end and then stops in good order
    <!-- file NAME -->  the block behind it is written to a file of this name
    <!-- prints -->     the ```text block behind it is what the last run block printed on stdout

The working folder holds copies of examples/ and include/; `redd` is on the PATH. Servers get a free port;
127.0.0.1:8000 and localhost:8000 in a block stand for it."""

import os
import re
import shutil
import subprocess
import unittest

import redd

BLOCK = re.compile(r"^<!-- (run|serve|prints|file \S+) -->\n+```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRAPPER = f"""#!/bin/sh
if [ "$1" = serve ]; then exec "{redd.PROGRAM}" "$@" --host 127.0.0.1 --port 0; fi
exec "{redd.PROGRAM}" "$@"
"""


def pages():
    return [redd.SOURCE / "README.md", *sorted((redd.SOURCE / "docs").glob("*.md"))]


class Pages(redd.TemporaryCase):
    def setUp(self):
        super().setUp()
        for name in ("examples", "include"):
            shutil.copytree(redd.SOURCE / name, self.folder / name)
        tools = self.folder / ".tools"
        tools.mkdir()
        (tools / "redd").write_text(WRAPPER)
        (tools / "redd").chmod(0o755)
        self.env = {"PATH": f"{tools}:{os.environ['PATH']}"}
        self.server = None
        self.printed = ""

    def stop(self):
        if self.server:
            self.server.stop()
        self.server = None

    def start(self, text):
        self.stop()
        # exec: the signal that stops it must reach the server, not the shell.
        self.server = redd.Process(["sh", "-ec", "exec " + text.strip()], env=self.env, cwd=self.folder)
        self.addCleanup(self.server.abandon)

    def run_block(self, text):
        if self.server:
            text = re.sub(r"(127\.0\.0\.1|localhost):8000", f"127.0.0.1:{self.server.port}", text)
        done = subprocess.run(
            ["sh", "-ec", text],
            cwd=self.folder,
            env=redd.environment(self.env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=redd.PATIENCE,
        )
        redd.check_stderr(done.stderr)
        self.assertEqual(done.returncode, 0, f"{text}\n{done.stdout}{done.stderr}")
        self.printed = done.stdout.rstrip("\n") + "\n"  # as a block shows it

    def test_pages(self):
        count = 0
        for page in pages():
            for mark, text in BLOCK.findall(page.read_text() if page.exists() else ""):
                with self.subTest(page=page.name, block=text):
                    if mark == "serve":
                        self.start(text)
                    elif mark == "run":
                        self.run_block(text)
                    elif mark.startswith("file "):
                        (self.folder / mark.split()[1]).write_text(text)
                    else:
                        self.assertEqual(self.printed, text)
                    count += 1
            self.stop()
        self.assertGreater(count, 0, "no page has a marked block")


OPTION_ROW = re.compile(r"^\| `([a-z_]+\.[a-z_]+)` \| (\S+) \|", re.MULTILINE)
OPTION_LINE = re.compile(r"^  ([a-z_]+\.[a-z_]+) +(\S+)", re.MULTILINE)


def page(name):
    return (redd.SOURCE / "docs" / name).read_text()


class CommandLinePage(unittest.TestCase):
    """docs/cli.md and docs/http.md say what the program says."""

    def setUp(self):
        self.help = redd.run("serve", "--help").stdout

    def test_flags(self):
        documented = re.findall(r"^\| `(--[a-z-]+)", page("cli.md"), re.MULTILINE)
        offered = re.findall(r"^  (--[a-z-]+)", self.help, re.MULTILINE)
        self.assertEqual(documented, offered)

    def test_options(self):
        documented = OPTION_ROW.findall(page("http.md")) + OPTION_ROW.findall(page("cli.md"))
        self.assertEqual(documented, OPTION_LINE.findall(self.help))


class OpsPage(unittest.TestCase):
    """docs/ops.md lists every op of http, as `redd ops` does."""

    def test_ops(self):
        listed = re.findall(r"^ +\d+  (op_http\w+) +(\w+) +\((.*)\)$", redd.run("ops").stdout, re.MULTILINE)
        rows = re.findall(r"^\| `(op_\w+)` \| (\w+) \| ([^|]*) \| [^|]* \| [^|]* \|$", page("ops.md"), re.MULTILINE)
        self.assertEqual([(name, kind, given.replace(" or ", "|")) for name, kind, given in rows], listed)


class MetricsTable(redd.TemporaryCase):
    """docs/http.md names every metric that a server gives, with its kind."""

    def test_metrics(self):
        server = self.serve(redd.EXAMPLES / "hello.c", "--metrics", "/metrics")
        done = subprocess.run(["curl", "--silent", server.url("/metrics")], capture_output=True, text=True, timeout=60)
        server.stop()
        given = re.findall(r"^# TYPE (\S+) (\S+)$", done.stdout, re.MULTILINE)
        documented = re.findall(r"^\| `([a-z_]+)` \| (counter|gauge|histogram|info) \|", page("http.md"), re.MULTILINE)
        self.assertEqual(sorted(documented), sorted(given))


if __name__ == "__main__":
    redd.main()
