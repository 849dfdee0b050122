# SPDX-License-Identifier: MIT
"""Headless Chromium opens the pages of the examples, types, and reads what came back."""

import asyncio
import itertools
import json
import os
import subprocess
import tempfile
import unittest

import redd
import websockets

CHROMIUM = os.environ["REDD_CHROMIUM"]
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)


class Page:
    """One tab, spoken to by the DevTools protocol."""

    def __init__(self, socket):
        self._socket = socket
        self._ids = itertools.count(1)
        self._session = None
        self.complaints = []  # errors of the console and of the network

    async def command(self, method, **params):
        number = next(self._ids)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        await self._socket.send(json.dumps(message))
        answer = await self._until(lambda m: m.get("id") == number)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    async def event(self, method):
        await self._until(lambda m: m.get("method") == method)

    async def _until(self, wanted):
        while True:
            message = json.loads(await asyncio.wait_for(self._socket.recv(), redd.PATIENCE))
            if message.get("method") == "Runtime.exceptionThrown":
                self.complaints.append(message["params"]["exceptionDetails"])
            if message.get("method") == "Log.entryAdded":
                self.complaints.append(message["params"]["entry"])
            if wanted(message):
                return message

    async def open(self, url):
        target = await self.command("Target.createTarget", url="about:blank")
        attached = await self.command("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            await self.command(domain + ".enable")
        await self.command("Page.navigate", url=url)
        await self.event("Page.loadEventFired")

    async def evaluate(self, expression):
        result = await self.command(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    async def wait_for(self, condition):
        """Until the page itself says so."""
        await self.evaluate(
            "new Promise((done) => { const look = () => (%s) ? done(true) : setTimeout(look, 10); look(); })" % condition
        )

    async def type(self, text):
        await self.command("Input.insertText", text=text)
        for kind in ("keyDown", "keyUp"):
            await self.command(
                "Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13
            )


class Browser(unittest.TestCase):
    def setUp(self):
        profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(profile.cleanup)
        self.process = subprocess.Popen(
            [CHROMIUM, *FLAGS, f"--user-data-dir={profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self.addCleanup(self.end)
        self.log = redd.Lines(self.process.stderr)
        self.url = self.log.wait("DevTools listening on ").split(" on ")[1]

    def end(self):
        self.process.terminate()
        self.process.wait(redd.PATIENCE)
        self.log.finish()

    def play(self, app, flags, scene):
        async def run(server):
            async with websockets.connect(self.url, max_size=None) as first:
                async with websockets.connect(self.url, max_size=None) as second:
                    pages = Page(first), Page(second)
                    await scene(server, *pages)
                    for page in pages:
                        self.assertEqual(page.complaints, [])

        server = redd.Server(app, *flags)
        self.addCleanup(server.abandon)
        asyncio.run(run(server))
        server.stop()

    def test_echo(self):
        async def scene(server, page, _):
            await page.open(server.url())
            await page.wait_for("!document.querySelector('#send').disabled")
            self.assertEqual(await page.evaluate("document.title"), "redd echo")
            self.assertIn("connected to", await page.evaluate("document.querySelector('#status').textContent"))
            texts = ["hello, salmon", "gr\u00fc\u00dfe \U0001f41f", "<b>not bold</b>"]
            for count, text in enumerate(texts, 1):
                await page.evaluate("document.querySelector('#text').focus()")
                await page.type(text)
                await page.wait_for(f"document.querySelectorAll('#log li').length === {count}")
            rows = await page.evaluate("[...document.querySelectorAll('#log li')].map((li) => li.firstChild.data)")
            self.assertEqual(rows, texts[::-1])
            times = await page.evaluate("[...document.querySelectorAll('#log time')].map((t) => t.textContent)")
            for time in times:
                self.assertRegex(time, r"^\d+\.\d\d ms$")
            self.assertRegex(await page.evaluate("document.querySelector('#median').textContent"), r"^\d+\.\d\d ms$")
            self.assertEqual(await page.evaluate("document.querySelector('#count').textContent"), "3")
            self.assertEqual(await page.evaluate("document.activeElement.id"), "text")
            unnamed = "[...document.querySelectorAll('input')].filter((i) => !i.labels.length).length"
            self.assertEqual(await page.evaluate(unnamed), 0)

        self.play(redd.EXAMPLES / "echo.c", ("--parallel=2",), scene)

    def test_chat(self):
        async def scene(server, ada, bob):
            for page in (ada, bob):
                await page.open(server.url("/river"))
                await page.wait_for("document.querySelector('#status').textContent === 'in /river'")
            await ada.evaluate("document.querySelector('#name').value = 'Ada'; document.querySelector('#text').focus()")
            await ada.type("is the water cold?")
            for page in (ada, bob):
                await page.wait_for("document.querySelectorAll('#log li').length === 1")
                self.assertEqual(
                    await page.evaluate("document.querySelector('#log li').textContent"), "Ada: is the water cold?"
                )

        self.play(redd.EXAMPLES / "chat.c", ("--parallel=2",), scene)

    def test_events(self):
        async def scene(server, page, _):
            await page.open(server.url())
            # Three at a time: it comes again by itself, and says where it was.
            ticks = await page.evaluate(
                """new Promise((done) => {
                     const got = [], source = new EventSource('/events');
                     source.addEventListener('tick', (event) => {
                       if (got.push(event.lastEventId + ': ' + event.data) < 6) return;
                       source.close();
                       done(got);
                     });
                   })"""
            )
            self.assertEqual(ticks, [f"{n}: line 1\nline 2" for n in range(1, 7)])

        self.play(redd.APPS / "router.c", ("--parallel=2",), scene)

    def test_forms(self):
        async def scene(server, page, _):
            await page.open(server.url())
            answer = await page.evaluate(
                """(() => {
                     const form = new FormData();
                     form.append('a "quoted"\\r\\nname', 'hello');
                     form.append('file', new File(['\\r\\n--'], 'b "\\\\" \u00e4.txt', {type: 'text/x'}));
                     return fetch('/form', {method: 'POST', body: form}).then((response) => response.text());
                   })()"""
            )
            name, file = 'a "quoted"\r\nname'.encode().hex(), 'b "\\" \u00e4.txt'.encode().hex()
            self.assertEqual(answer, f"{name}|-||5|062c0215\n66696c65|{file}|text/x|4|00dd0072\n")

        self.play(redd.APPS / "router.c", (), scene)

    def test_compression(self):
        async def scene(server, page, _):
            await page.open(server.url("/page"))
            for path in ("/whole?200000", "/stream?200000"):
                plain, coded, coding = await page.evaluate(
                    """(async () => {
                        const answer = await fetch("%s");
                        const plain = (await answer.text()).length;
                        const coded = performance.getEntriesByType("resource").at(-1).encodedBodySize;
                        return [plain, coded, answer.headers.get("content-encoding")];
                    })()"""
                    % path
                )
                self.assertEqual(plain, 200000)
                self.assertLess(coded, plain * 2 / 3)
                self.assertIn(coding, ("gzip", "br", "zstd"))

        self.play(redd.APPS / "coding.c", ("--set", "http.compress=on"), scene)


if __name__ == "__main__":
    redd.main()
