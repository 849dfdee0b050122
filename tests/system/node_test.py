# SPDX-License-Identifier: MIT
"""WebSocket through Node.js and its package ws, which npm installs into the build folder."""

import pathlib
import shutil
import subprocess

import redd

SCRIPTS = redd.SOURCE / "tests" / "system" / "node"
FOLDER = redd.BUILD / "tests" / "system" / "node"


def install():
    """npm ci, when it was not done for this very lock file before."""
    lock = (SCRIPTS / "package-lock.json").read_bytes()
    done = FOLDER / "installed-lock.json"
    if done.exists() and done.read_bytes() == lock:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(SCRIPTS / name, FOLDER / name)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=FOLDER, check=True, timeout=600)
    done.write_bytes(lock)


class Node(redd.ServerCase):
    def test_ws(self):
        install()
        script = pathlib.Path(shutil.copy(SCRIPTS / "echo.js", FOLDER / "echo.js"))
        done = subprocess.run(
            ["node", str(script), self.server.url("/node", "ws")],
            capture_output=True,
            text=True,
            timeout=redd.PATIENCE,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("ok "), 7, done.stdout)


if __name__ == "__main__":
    redd.main()
