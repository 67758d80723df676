"""The Auth emulator of firebase-tools: issues and checks real ID tokens, unsigned."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.emulators.process import HOST, CannotRunError, free_port, running

HERE = Path(__file__).parent
TOOLS = HERE.parents[1] / ".cache/node"
LOCK = "package-lock.json"
INSTALL_TIMEOUT_S = 600.0


@contextmanager
def auth(log: Path, *, project: str) -> Iterator[str]:
    """Run it for a project named `demo-…` and yield `host:port`. Raises CannotRunError."""
    port = free_port()
    config = log.with_name("firebase.json")
    config.write_text(json.dumps({"emulators": _emulators(port)}))
    command = [_found("node"), str(_firebase_tools()), "emulators:start", "--only=auth"]
    command += [f"--project={project}", f"--config={config}"]
    with running(command, port=port, log=log, cwd=log.parent) as address:
        yield address


def _emulators(port: int) -> dict[str, object]:
    """Place everything that would otherwise take well-known ports."""
    others = {name: {"host": HOST, "port": free_port()} for name in ("hub", "logging")}
    return {"auth": {"host": HOST, "port": port}, "ui": {"enabled": False}, **others}


def _firebase_tools() -> Path:
    """Install firebase-tools as package-lock.json pins it, unless that very version is there."""
    if not _is_installed():
        TOOLS.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", LOCK):
            shutil.copy(HERE / name, TOOLS)
        _npm_ci()
    return TOOLS / "node_modules/firebase-tools/lib/bin/firebase.js"


def _is_installed() -> bool:
    """Tell by the lock that npm leaves once everything is in place."""
    ours, theirs = TOOLS / LOCK, TOOLS / "node_modules/.package-lock.json"
    return theirs.exists() and ours.read_bytes() == (HERE / LOCK).read_bytes()


def _npm_ci() -> None:
    command = [_found("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        subprocess.run(
            command, cwd=TOOLS, check=True, capture_output=True, timeout=INSTALL_TIMEOUT_S
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise CannotRunError("firebase-tools cannot be installed: npm ci failed") from error


def _found(command: str) -> str:
    path = shutil.which(command)
    if path is None:
        raise CannotRunError(f"{command} is not on the PATH: install Node.js 20 or newer")
    return path
