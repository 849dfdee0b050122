# SPDX-License-Identifier: MIT
"""How `redd serve` compiles, keeps and loads apps."""

import os
import re
import shutil
import stat
import subprocess
import time
import unittest

import redd

HELLO = '#include <redd/redd.h>\n#include "text.h"\n\nstatic void hello(redd_http_request *req, void *user)\n' + (
    "{\n    (void)user;\n    redd_http_respond_text(req, 200, TEXT);\n}\n\nREDD_SERVE(hello)\n"
)


class AppCase(redd.TemporaryCase):
    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"
        self.log = self.folder / "cc.log"
        self.env = {"XDG_CACHE_HOME": str(self.cache), "CC": str(self.compiler("cc"))}

    def compiler(self, name):
        """A compiler that logs its command lines."""
        path = self.write(name, f'#!/bin/sh\necho "$@" >>"{self.log}"\nexec cc "$@"\n')
        path.chmod(0o755)
        return path

    def build(self, source, name):
        path = self.folder / name
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-I", redd.SOURCE / "include", "-I", redd.BUILD / "include", source, "-o", path],
            check=True,
            timeout=redd.PATIENCE,
        )
        return path

    def compilations(self):
        return self.log.read_text().count("-shared") if self.log.exists() else 0

    def objects(self):
        return sorted(self.cache.glob("redd/*"))

    def answer(self, app, *flags, **options):
        server = self.serve(app, *flags, env=self.env, cwd=self.folder, **options)
        body = redd.request(server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")[2]
        server.stop()
        return body.decode()

    def fails(self, app, *flags):
        done = redd.run("serve", "--port=0", *flags, app, env=self.env, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        return done.stderr


class Cache(AppCase):
    def setUp(self):
        super().setUp()
        self.write("text.h", '#define TEXT "one"\n')
        self.app = self.write("app.c", HELLO)

    def test_second_start_compiles_nothing(self):
        self.assertEqual(self.answer("app.c"), "one")
        self.assertEqual(self.compilations(), 1)
        self.assertEqual(self.answer("app.c"), "one")
        self.assertEqual(self.compilations(), 1)
        self.assertEqual(len(self.objects()), 1)
        self.assertRegex(self.objects()[0].name, r"^[0-9a-f]{64}\.so$")

    def test_the_cache_is_private(self):
        self.answer("app.c")
        for folder in (self.cache, self.cache / "redd"):
            self.assertEqual(stat.S_IMODE(folder.stat().st_mode) & 0o077, 0)

    def test_the_cache_follows_home(self):
        self.env["XDG_CACHE_HOME"] = None
        self.env["HOME"] = str(self.folder / "home")
        self.answer("app.c")
        self.assertEqual(len(list(self.folder.glob("home/.cache/redd/*.so"))), 1)
        self.env["XDG_CACHE_HOME"] = "relative"  # the XDG rules: to be ignored
        self.answer("app.c")
        self.assertEqual(self.compilations(), 1)
        self.assertFalse((self.folder / "relative").exists())

    def test_a_change_of_the_source_compiles_anew(self):
        self.assertEqual(self.answer("app.c"), "one")
        self.app.write_text(HELLO.replace("TEXT)", '"two")'))
        self.assertEqual(self.answer("app.c"), "two")
        self.app.write_text(HELLO)
        self.assertEqual(self.answer("app.c"), "one")
        self.assertEqual(self.compilations(), 2)

    def test_a_change_of_a_header_compiles_anew(self):
        self.assertEqual(self.answer("app.c"), "one")
        self.write("text.h", '#define TEXT "three"\n')
        self.assertEqual(self.answer("app.c"), "three")
        self.assertEqual(self.compilations(), 2)

    def test_a_change_of_the_compiler_compiles_anew(self):
        self.answer("app.c")
        self.env["CC"] = f"{self.compiler('other')}\t -DTEXT_UNUSED"
        self.answer("app.c")
        self.assertEqual(self.compilations(), 2)
        self.assertIn("-DTEXT_UNUSED", self.log.read_text())

    def test_the_time_of_day_is_no_reason_to_compile_anew(self):
        self.app.write_text(HELLO.replace("TEXT)", '__DATE__ " " __TIME__)'))
        first = self.answer("app.c")
        self.assertIn(str(time.localtime().tm_year), first, "the time is the true one")
        while time.strftime("%H:%M:%S") in first:
            time.sleep(0.01)  # until the clock shows another second: the thing that is tested
        self.assertEqual(self.answer("app.c"), first)
        self.assertEqual((self.compilations(), len(self.objects())), (1, 1))

    def test_a_source_that_changes_while_it_is_compiled(self):
        flag = self.write("change", "")
        script = self.write(
            "changing",
            f"""#!/bin/sh
case "$*" in *-shared*)
    if rm "{flag}" 2>/dev/null; then echo '#define TEXT "two"' >"{self.folder}/text.h"; fi ;;
esac
exec cc "$@"
""",
        )
        script.chmod(0o755)
        self.env["CC"] = str(script)
        self.assertEqual(self.answer("app.c"), "two")
        self.assertEqual(self.objects(), [], "what nobody finds again is not kept")
        self.write("text.h", '#define TEXT "one"\n')
        self.assertEqual(self.answer("app.c"), "one", "the key of the first state must not name the second")

    def test_an_object_that_does_not_load_is_compiled_once_more(self):
        self.assertEqual(self.answer("app.c"), "one")
        (path,) = self.objects()
        whole = path.read_bytes()
        for count, broken in enumerate((b"", whole[:100], b"no object at all\n"), 2):
            path.write_bytes(broken)
            self.assertEqual(self.answer("app.c"), "one")
            self.assertEqual(self.compilations(), count)
        self.assertEqual(self.objects(), [path])

    def test_an_extension_that_does_not_load_is_compiled_once_more(self):
        kinds = redd.EXTENSIONS / "kinds.c"
        for count in (1, 2):
            done = redd.run("check", "--ext", kinds, env=self.env)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual(self.compilations(), count)
            (path,) = self.objects()
            path.write_bytes(b"")

    def test_what_an_interrupted_start_has_left_is_swept(self):
        place = self.cache / "redd"
        place.mkdir(parents=True)
        now = time.time()
        for name, age in (("new-1.so", 3660), ("new-2", 7200), ("new-3.so", 3000), ("kept.so", 7200)):
            (place / name).touch()
            os.utime(place / name, (now - age, now - age))
        self.answer("app.c")
        (built,) = place.glob("?" * 64 + ".so")
        self.assertEqual({path.name for path in self.objects()}, {"new-3.so", "kept.so", built.name})

    def test_servers_that_start_at_once(self):
        servers = [
            subprocess.Popen(
                [redd.PROGRAM, "serve", "--host=127.0.0.1", "--port=0", "app.c"],
                cwd=self.folder,
                env=redd.environment(self.env),
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(4)
        ]
        lines = [server.stderr.readline() for server in servers]
        for server, line in zip(servers, lines):
            with server:
                server.terminate()
                redd.check_stderr(server.stderr.read())
                self.assertEqual(server.wait(redd.PATIENCE), 0)
                self.assertIn("Listening on http://127.0.0.1:", line)
        self.assertEqual(len(self.objects()), 1)


FOREIGN = """#include <redd/redd.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void)
{
    (void)!write(2, "FOREIGN CODE\\n", 13);
}

static void serve(redd_http_request *req, void *user)
{
    (void)user;
    redd_http_respond_text(req, 200, "foreign");
}

REDD_SERVE(serve)
"""


class Trust(AppCase):
    """Nothing is loaded from the cache that somebody else could have put there."""

    def setUp(self):
        super().setUp()
        self.write("text.h", '#define TEXT "one"\n')
        self.write("app.c", HELLO)
        self.place = self.cache / "redd"

    def refuses(self, why):
        self.assertEqual(
            self.fails("app.c"),
            f"redd serve: the cache folder {self.place} {why}: "
            "remove it, or let XDG_CACHE_HOME name a place of your own\n",
        )
        self.assertEqual(self.compilations(), 0)

    def test_a_folder_that_others_can_write_to(self):
        self.place.mkdir(parents=True)
        for mode in (0o777, 0o770, 0o702, 0o1777):
            self.place.chmod(mode)
            self.refuses("can be written by other users")
        self.place.chmod(0o755)
        self.assertEqual(self.answer("app.c"), "one")

    def test_a_folder_behind_a_symbolic_link(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        self.cache.mkdir()
        self.place.symlink_to(elsewhere)
        self.refuses("is a symbolic link or no folder")
        self.assertEqual(list(elsewhere.iterdir()), [])

    def test_a_file_in_the_place_of_the_folder(self):
        self.cache.mkdir()
        self.place.touch()
        self.refuses("is a symbolic link or no folder")

    @unittest.skipUnless(os.geteuid() == 0, "only root gives folders away")
    def test_a_folder_of_another_user(self):
        self.place.mkdir(parents=True)
        self.place.chmod(0o700)
        os.chown(self.place, 65534, 65534)
        self.refuses("belongs to another user")

    def replaced(self, plant):
        """Compiles the app, lets `plant` put foreign code in the object's place, and starts again."""
        self.assertEqual(self.answer("app.c"), "one")
        count = self.compilations()
        (path,) = self.place.glob("*.so")
        path.unlink()
        plant(self.build(self.write("foreign.c", FOREIGN), "foreign.so"), path)
        server = self.serve("app.c", env=self.env, cwd=self.folder)
        self.assertEqual(redd.request(server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")[2], b"one")
        self.assertNotIn("FOREIGN", server.stop())
        self.assertEqual(self.compilations(), count + 1)
        self.assertTrue(stat.S_ISREG(path.lstat().st_mode))
        self.assertEqual(self.objects(), [path])

    def test_an_object_behind_a_symbolic_link(self):
        self.replaced(lambda foreign, path: path.symlink_to(foreign))

    def test_an_object_that_others_can_write_to(self):
        for mode in (0o666, 0o620, 0o602):

            def plant(foreign, path):
                shutil.copy(foreign, path)
                path.chmod(mode)

            self.replaced(plant)

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_an_object_of_another_user(self):
        def plant(foreign, path):
            shutil.copy(foreign, path)
            os.chown(path, 65534, 65534)

        self.replaced(plant)

    def test_a_pipe_in_the_place_of_an_object(self):
        self.replaced(lambda foreign, path: os.mkfifo(path))

    def test_no_umask_opens_the_cache(self):
        self.write(
            "mask.c",
            HELLO.replace("(void)user;", "(void)user, umask(mask = umask(0));")
            .replace('#include "text.h"', "#include <stdio.h>\n#include <sys/stat.h>\nstatic mode_t mask;\nstatic char text[8];")
            .replace("200, TEXT", '200, (snprintf(text, sizeof(text), "%03o", (unsigned)mask), text)'),
        )
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        self.assertEqual(self.answer("mask.c"), "000", "the app's own umask is what the program was given")
        for path in (self.cache, self.place, *self.objects()):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, path)


class Loading(AppCase):
    def test_a_shared_object(self):
        self.build(redd.EXAMPLES / "hello.c", "hello.so")
        self.assertEqual(self.answer("hello.so"), "Hello\n")  # in the working folder, not on the loader's path
        self.assertEqual(self.answer(self.folder / "hello.so"), "Hello\n")
        self.assertEqual(self.compilations(), 0)

    def test_names_that_look_like_flags(self):
        for name in ("-x.c", "@x.c", "-.c"):
            self.write(name, redd.EXAMPLES.joinpath("hello.c").read_text())
            self.assertEqual(self.answer(name, "--"), "Hello\n")
        self.write("-bad.c", "int x = ;\n")
        self.assertRegex(self.fails("-bad.c", "--"), r"redd serve: -bad\.c does not compile: [^\n]+\n$")

    def test_no_handler(self):
        sentence = "redd serve: {} has no handler: it must use REDD_SERVE(...) or REDD_APP(...)\n"
        source = self.write("empty.c", "int answer = 42;\n")
        self.assertEqual(self.fails("empty.c"), sentence.format("empty.c"))
        self.build(source, "empty.so")
        self.assertEqual(self.fails("empty.so"), sentence.format("empty.so"))

    def test_no_serve_function(self):
        self.write("silent.c", '#include <redd/redd.h>\nREDD_APP(.name = "silent")\n')
        self.assertEqual(
            self.fails("silent.c"), "redd serve: silent.c has no serve function: REDD_APP(...) must set .serve\n"
        )

    def test_the_name_of_an_app(self):
        source = redd.APPS.joinpath("named.c").read_text()
        for name in ("shop", None):
            self.write("named.c", source if name else source.replace('.name = "shop",', ""))
            self.assertEqual(self.answer("named.c"), "begun", "the state is found under any name")
            done = redd.run("check", "named.c", env=self.env, cwd=self.folder)
            self.assertIn(f"\n  {name or 'app'} ", done.stdout)
        self.write("named.c", source.replace("shop", "http"))
        self.assertRegex(self.fails("named.c"), r'^redd serve: named\.c: extension "http" .*is there already')

    def test_a_failure_behind_an_error_of_the_app(self):
        self.assertEqual(
            self.fails(redd.APPS / "greedy.c", "--host=127.0.0.1"),
            "redd serve: error: a line before the failure\n"
            'redd serve: error: worker 0: extension "cli.signals" could not start: too many open files (EMFILE)\n',
        )

    def test_another_abi_or_size(self):
        text = (
            "#include <redd/redd.h>\nstatic void serve(redd_http_request *req, void *user) { (void)req, (void)user; }\n"
            "REDD_APP(.serve = serve, %s)\n"
        )
        self.write("abi.c", text % ".abi = 99")
        self.assertEqual(re.sub(r"has \d+", "has N", self.fails("abi.c")), "redd serve: abi.c wants ABI 99, this redd has N: build it anew\n")
        self.write("size.c", text % ".struct_size = 8")
        self.assertRegex(
            self.fails("size.c"),
            r"redd serve: size.c describes its app in 8 bytes, this redd expects \d+: build it anew\n$",
        )

    def test_an_entry_that_gives_nothing(self):
        self.write("null.c", "#include <redd/redd.h>\nconst redd_app *redd_app_entry(void) { return NULL; }\n")
        self.assertEqual(
            self.fails("null.c"),
            "redd serve: null.c: redd_app_entry gave no description; REDD_APP(...) writes the function\n",
        )

    def test_an_unknown_function(self):
        self.write(
            "typo.c",
            "#include <redd/redd.h>\nvoid redd_http_responnd(redd_http_request *req, void *user);\nREDD_SERVE(redd_http_responnd)\n",
        )
        text = self.fails("typo.c")
        self.assertTrue(text.startswith("redd serve: cannot load typo.c: undefined symbol: "), text)
        self.assertIn("redd_http_responnd", text)

    def test_what_is_no_shared_object(self):
        self.write("text.so", "not an object\n")
        self.assertTrue(self.fails("text.so").startswith("redd serve: cannot load text.so: "))

    def test_compiler_errors_are_shown_as_they_are(self):
        self.write("broken.c", "#include <redd/redd.h>\nstatic void f(void) { return 1 + ; }\nREDD_SERVE(f)\n")
        text = self.fails("broken.c")
        self.assertRegex(text, r"(?m)^broken\.c:2:\d+: .*error: ")
        self.assertTrue(text.endswith(f"redd serve: broken.c does not compile: {self.env['CC']} ended with status 1\n"), text)
        self.assertEqual(self.objects(), [], "a failed compilation has left something in the cache")

    def test_preprocessor_errors_are_shown_as_they_are(self):
        self.write("missing.c", '#include "nowhere.h"\n')
        text = self.fails("missing.c")
        self.assertRegex(text, r"(?m)^missing\.c:1:\d+: fatal error: .*nowhere\.h")
        self.assertEqual(self.objects(), [])

    def test_warnings_are_shown_once(self):
        self.write("warned.c", redd.EXAMPLES.joinpath("hello.c").read_text() + "#warning look here\nstatic int unused;\n")
        server = self.serve("warned.c", env=self.env, cwd=self.folder)
        text = server.stop()
        self.assertEqual(text.count("#warning look here"), 2, text)  # the message, and the quoted line
        self.assertIn("unused", text)

    def test_no_compiler(self):
        self.env["CC"] = "/nowhere/cc"
        self.write("app.c", "")
        self.assertEqual(
            self.fails("app.c"),
            "redd serve: cannot run the C compiler /nowhere/cc: no such file or directory; CC names another\n",
        )

    def test_no_place_for_the_cache(self):
        self.write("app.c", "")
        self.env["XDG_CACHE_HOME"] = str(self.write("file", ""))
        self.assertEqual(
            self.fails("app.c"),
            f"redd serve: cannot make the cache folder {self.folder}/file/redd: not a directory\n",
        )

    def test_life(self):
        server = self.serve(redd.APPS / "life.c", "--parallel=2")
        self.assertIn(redd.request(server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")[2], (b"0", b"1"))
        lines = [line[6:] for line in server.stop().splitlines() if line.startswith("life: ")]
        self.assertEqual(lines[0], "init")
        self.assertEqual(lines[-1], "fini 1")
        for index in "01":
            own = [line for line in lines if f" {index}" in line and line != "fini 1"]
            self.assertEqual(
                own, [f"worker_init {index}", f"worker_stop {index} graceful", f"worker_fini {index}"], lines
            )

    def test_an_init_that_fails(self):
        source = redd.APPS.joinpath("life.c").read_text().replace("-EINVAL", "-EPERM")
        self.write("life.c", source.replace("shared != &shared_state", "redd_worker_index(w) == 1"))
        text = self.fails("life.c", "--parallel=2")
        self.assertEqual(text.count("operation not permitted"), 1, text)
        self.assertIn("life: fini 1\n", text)
        self.assertNotIn("Listening", text)


if __name__ == "__main__":
    redd.main()
