# SPDX-License-Identifier: MIT
"""The command line: every flag, and every sentence with its exit code."""

import os
import re
import signal
import socket
import subprocess

import redd

HELLO = redd.EXAMPLES / "hello.c"
KINDS = redd.EXTENSIONS / "kinds.c"


class CommandLine(redd.TemporaryCase):
    def refused(self, code, sentence, *arguments, env=None):
        """Nothing on stdout, exactly this sentence on stderr, and this exit code."""
        done = redd.run(*arguments, env=env, cwd=self.folder)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", sentence + "\n", code))

    def test_commands(self):
        done = redd.run()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("Usage: redd COMMAND", done.stderr)
        self.refused(2, "redd: unknown command srve; did you mean serve?", "srve")
        self.refused(2, "redd: unknown command dance; `redd help` lists the commands", "dance")
        for flag in ("help", "--help", "-h"):
            done = redd.run(flag)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for command in ("serve", "ops", "check", "help", "version"):
                self.assertIn(f"\n  {command} ", done.stdout)

    def test_version(self):
        commands = ("serve", "ops", "check")
        for words in (["--version"], ["version"], *([command, "--version"] for command in commands)):
            done = redd.run(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"^redd \d+\.\d+\.\d+\n$")

    def test_a_stdout_that_takes_nothing(self):
        for words in (["ops"], ["version"], ["help"], ["check", HELLO], ["serve", "--help"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run(
                    [redd.PROGRAM, *words],
                    env=redd.environment(),
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                    timeout=redd.PATIENCE,
                )
            self.assertEqual(
                (done.stderr, done.returncode), ("redd: cannot write to stdout: no space left on device\n", 1), words
            )

    def test_unknown_flags(self):
        for command in ("serve", "ops", "check"):
            self.refused(2, f"redd {command}: unknown flag --frob", command, "--frob=1")
            self.refused(2, f"redd {command}: unknown flag -x", command, "-x")
            self.refused(2, f"redd {command}: --help takes no value", command, "--help=1")
            self.refused(2, f"redd {command}: --ext needs a value", command, "--ext")
        self.refused(2, "redd serve: unknown flag --prot; did you mean --port?", "serve", "--prot", "1", "x.c")
        self.refused(2, "redd serve: unknown flag --paralell; did you mean --parallel?", "serve", "--paralell=2")
        self.refused(2, "redd serve: unknown flag --por; did you mean --port?", "serve", "--por=1")

    def test_operands(self):
        self.refused(2, "redd serve: no APP is named: expected a .c file, a shared object or a folder", "serve")
        self.refused(2, "redd serve: one APP is served, but a.c and b.c are named", "serve", "a.c", "b.c")
        self.refused(
            2,
            "redd serve: unexpected 4: a number of workers is written as --parallel=4",
            "serve",
            "--parallel",
            "4",
            "a.c",
        )
        self.refused(2, "redd check: one APP is checked, but a.c and b.c are named", "check", "a.c", "b.c")
        self.refused(2, "redd ops: unexpected a.c: extensions are named by --ext", "ops", "a.c")
        self.refused(1, "redd serve: cannot read --no.c: no such file or directory", "serve", "--", "--no.c")

    def test_bad_values(self):
        port = "expected a number from 0 (a free port) to 65535"
        for value in ("65536", "-1", "80x", "", "99999999999999999999"):
            self.refused(2, f"redd serve: --port={value}: {port}", "serve", f"--port={value}", "x.c")
        workers = "expected a number of workers from 1 to 1024"
        for value in ("0", "1025", "two", "", "-3"):
            self.refused(2, f"redd serve: --parallel={value}: {workers}", "serve", f"--parallel={value}", "x.c")
        self.refused(
            2,
            "redd serve: --balance=share: expected auto, reuseport or shared; did you mean shared?",
            "serve",
            "--balance",
            "share",
        )
        self.refused(2, "redd serve: --balance=: expected auto, reuseport or shared", "serve", "--balance=")
        self.refused(2, "redd serve: --host=: expected an IPv4 or IPv6 address, or a name", "serve", "--host", "")
        self.refused(2, "redd serve: --port needs a value", "serve", "--port")

    def test_bad_settings(self):
        self.refused(2, "redd serve: --set x: expected NAME=VALUE", "serve", "--set", "x", HELLO)
        self.refused(2, "redd serve: --set =1: expected NAME=VALUE", "serve", "--set", "=1", HELLO)
        self.refused(
            2,
            "redd serve: --set http.max_haed: no such option; did you mean http.max_head?",
            "serve",
            "--set",
            "http.max_haed=64k",
            HELLO,
        )
        self.refused(
            2,
            "redd serve: --set colour: no such option; `redd serve --help` lists them",
            "serve",
            "--set",
            "colour=red",
            HELLO,
        )
        for name, value in (("http.max_head", "big"), ("http.max_head", ""), ("http.keep_alive", "1y"), ("ws.max_message", "-1")):
            done = redd.run("serve", "--set", f"{name}={value}", HELLO)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, f'^redd serve: --set: option "{name}" cannot be "{value}": expected a [^\n]+\n$')

        for value in ("", "123456789"):
            sentence = f'redd serve: --set: option "kinds.text" cannot be "{value}": expected a text of 1 to 8 bytes'
            self.refused(2, sentence, "serve", "--ext", KINDS, "--set", f"kinds.text={value}", HELLO)

    def test_jobs_in_the_environment(self):
        sentence = "expected a number of workers from 1 to 1024"
        for name in ("REDD_JOBS", "DENO_JOBS"):
            for value in ("0", "many", "", "1025"):
                self.refused(2, f"redd serve: {name}={value}: {sentence}", "serve", "--parallel", HELLO, env={name: value})
        for env, threads in (({"REDD_JOBS": "3", "DENO_JOBS": "2"}, 3), ({"DENO_JOBS": "2"}, 2)):
            server = self.serve(HELLO, "--parallel", env=env)
            self.assertTrue(server.banner_line.endswith(f" with {threads} threads"), server.banner_line)
            self.assertIn(f"the number of threads comes from: {min(env, key='REDD_JOBS DENO_JOBS'.index)}", server.stop())
        server = self.serve(HELLO, env={"REDD_JOBS": "many"})  # nobody asks for it without --parallel
        server.stop()

    def test_a_bare_parallel_takes_the_usable_cpus(self):
        server = self.serve(HELLO, "--parallel")
        usable = len(os.sched_getaffinity(0))
        text = server.stop()
        self.assertRegex(text, "the number of threads comes from: (CPU affinity|cgroup quota)")
        if "CPU affinity" in text:
            self.assertTrue(server.banner_line.endswith(f"with {usable} threads" if usable > 1 else "/"), text)

    def test_banner(self):
        server = self.serve(HELLO)
        self.assertEqual(server.banner_line, f"redd serve: Listening on http://127.0.0.1:{server.port}/")
        self.assertEqual(server.stop(), server.banner_line + "\nredd serve: stopping\n")
        for flags in (("--parallel=2",), ("--parallel=2", "--balance=shared"), ("--parallel=2", "--balance", "reuseport")):
            server = self.serve(HELLO, *flags)
            self.assertEqual(
                server.banner_line, f"redd serve: Listening on http://127.0.0.1:{server.port}/ with 2 threads"
            )
            status, _, body = redd.request(server, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            self.assertEqual((status, body), (200, b"Hello\n"))
            server.stop()

    def test_ipv6_is_shown_in_brackets(self):
        try:
            with socket.socket(socket.AF_INET6) as sock:
                sock.bind(("::1", 0))
        except OSError:
            self.skipTest("this machine has no IPv6 loopback")
        server = self.serve(HELLO, host="::1")
        self.assertEqual(server.banner_line, f"redd serve: Listening on http://[::1]:{server.port}/")
        self.assertEqual(redd.request(server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")[0], 200)
        server.stop()

    def test_the_default_host_is_every_address(self):
        server = self.serve(HELLO, "--host", "0.0.0.0", host="127.0.0.1")  # the last one counts
        self.assertEqual(server.banner_line, f"redd serve: Listening on http://0.0.0.0:{server.port}/")
        server.stop()

    def test_a_port_in_use_is_told_once(self):
        first = self.serve(HELLO)
        for flags in ((), ("--parallel=3",), ("--parallel=3", "--balance=shared")):
            self.refused(
                1,
                f"redd serve: cannot listen on 127.0.0.1:{first.port}: address already in use",
                "serve",
                "--host=127.0.0.1",
                f"--port={first.port}",
                *flags,
                HELLO,
            )
        first.stop()

    def test_an_address_that_is_not_ours(self):
        self.refused(
            1,
            "redd serve: cannot listen on 192.0.2.1:8000: address not available",
            "serve",
            "--host=192.0.2.1",
            HELLO,
        )

    def test_settings_are_obeyed(self):
        server = self.serve(redd.EXAMPLES / "echo.c", "--set", "http.max_target=64")
        short, long = b"/" + b"a" * 63, b"/" + b"a" * 64
        for target, status in ((short, 404), (long, 414)):
            answer = redd.request(server, b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertEqual(answer[0], status)
        server.stop()


class Help(redd.TemporaryCase):
    def test_flags_and_options(self):
        done = redd.run("serve", "--help", "--ext", KINDS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for flag in ("--host", "--port", "--parallel[=N]", "--balance", "--ext", "--set", "--help"):
            self.assertIn(f"\n  {flag} ", done.stdout)
        for name in ("http.max_head", "ws.max_message", "ws.max_fragments"):
            self.assertRegex(done.stdout, rf"\n  {name} +\d+([km] bytes)? +\S")
        group = done.stdout.partition("\nOptions of kinds, for --set NAME=VALUE:\n")[2]
        self.assertEqual(
            [line.split() for line in group.splitlines()],
            [
                ["kinds.bytes", "3m", "bytes", "some", "bytes"],
                ["kinds.time", "1500ms", "some", "time"],
                ["kinds.count", "1024", "a", "count"],
                ["kinds.switch", "on", "a", "switch"],
                ["kinds.text", "none", "a", "text"],
            ],
        )

    def test_every_command_has_help(self):
        for command in ("serve", "ops", "check"):
            for flag in ("--help", "-h"):
                done = redd.run(command, flag)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertTrue(done.stdout.startswith(f"Usage: redd {command} "), done.stdout)


class Ops(redd.TemporaryCase):
    def test_list(self):
        done = redd.run("ops", "--ext", KINDS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        groups = done.stdout.split("\nkinds 1.2.3: 4 ops\n")
        self.assertEqual(len(groups), 2, done.stdout)
        ids, rows = [], []
        for line in groups[1].splitlines():
            number, name, kind, arguments = line.split(maxsplit=3)
            ids.append(int(number))
            rows.append((name, kind, arguments))
        self.assertEqual(
            rows,
            [
                ("op_kinds_sync", "sync", "()"),
                ("op_kinds_fast", "fast", "(n: i32|u32)"),
                ("op_kinds_async", "async", "(what: any, data: string|bytes)"),
                ("op_kinds_blocking", "blocking", "(path: string)"),
            ],
        )
        self.assertEqual(ids, list(range(ids[0], ids[0] + 4)))
        self.assertIn(" op_http_serve ", done.stdout)

    def test_refusal(self):
        done = redd.run("ops", "--ext", redd.EXTENSIONS / "lonely.c")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("company", done.stderr)
        done = redd.run("ops", "--ext", "missing.so", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "redd ops: cannot read missing.so: no such file or directory\n")


class Check(redd.TemporaryCase):
    def test_order_and_dependencies(self):
        done = redd.run("check", "--ext", KINDS, redd.EXAMPLES / "echo.c")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        title, *lines = done.stdout.splitlines()
        self.assertEqual(title, "extensions, in the order of their start:")
        names = [line.split()[0] for line in lines]
        for earlier, later in (("net", "http"), ("http", "websocket"), ("http", "kinds"), ("kinds", "app")):
            self.assertLess(names.index(earlier), names.index(later))
        self.assertIn("  kinds 1.2.3 -> http >= 0.1.0", lines)
        app = next(line for line in lines if line.startswith("  app "))
        for name in ("http", "websocket", "kinds"):
            self.assertIn(name, app.partition(" -> ")[2].split(", "))

    def test_refusals(self):
        done = redd.run(
            "check", "--ext", redd.EXTENSIONS / "old.c", "--ext", redd.EXTENSIONS / "lonely.c", "--ext", KINDS, "missing.c"
        )
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        refusals = [line for line in done.stdout.splitlines() if line.startswith("refused: ")]
        self.assertEqual(len(refusals), 3, done.stdout)
        wants, has = re.search(r"wants ABI (\d+), this redd has (\d+)$", refusals[0]).groups()
        self.assertEqual(int(wants), int(has) + 41)
        self.assertIn("old.c", refusals[0])
        self.assertEqual(refusals[1], "refused: cannot read missing.c: no such file or directory")
        self.assertIn("lonely", refusals[2])
        self.assertIn("company", refusals[2])
        self.assertIn("  kinds 1.2.3 -> http >= 0.1.0", done.stdout)

    def test_the_same_extension_twice(self):
        done = redd.run("check", "--ext", KINDS, "--ext", KINDS)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"refused: .*kinds")


REPORT = r"""#include <redd/redd.h>
#include <stdio.h>
#include <unistd.h>

static int init(redd_runtime *rt, void **shared)
{
    (void)rt, (void)shared;
    FILE *report = fopen("report", "w");
    for (int fd = 0; report && fd < 3; fd++) {
        char name[32], target[256];
        snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        ssize_t n = readlink(name, target, sizeof(target));
        fprintf(report, "%.*s\n", n < 0 ? 0 : (int)n, target);
    }
    return report ? fclose(report) : -1;
}

static void serve(redd_http_request *req, void *user)
{
    (void)req, (void)user;
}

REDD_APP(.init = init, .serve = serve)
"""


class Inheritance(redd.TemporaryCase):
    """What a careless parent leaves behind does no harm."""

    def check(self, app, prepare):
        return subprocess.run(
            [redd.PROGRAM, "check", app],
            env=redd.environment({"XDG_CACHE_HOME": str(self.folder / "cache")}),
            cwd=self.folder,
            preexec_fn=prepare,
            stdout=subprocess.DEVNULL,
            timeout=redd.PATIENCE,
        ).returncode

    def test_closed_descriptors(self):
        self.write("report.c", REPORT)
        for closed in ((0,), (1,), (2,), (0, 1, 2)):

            def prepare():
                for fd in closed:
                    os.close(fd)

            self.assertEqual(self.check("report.c", prepare), 0)
            targets = (self.folder / "report").read_text().splitlines()
            for fd in closed:
                self.assertEqual(targets[fd], "/dev/null", (closed, targets))

    def test_an_ignored_sigchld(self):
        self.assertEqual(self.check(HELLO, lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)), 0)


if __name__ == "__main__":
    redd.main()
