"""The Auth emulator of firebase-tools: issues and checks real ID tokens, unsigned."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.emulators.node import found, installed
from infra.emulators.process import HOST, free_port, running

HERE = Path(__file__).parent
FIREBASE = "node_modules/firebase-tools/lib/bin/firebase.js"


@contextmanager
def auth(log: Path, *, project: str) -> Iterator[str]:
    """Run it for a project named `demo-…` and yield `host:port`. Raises CannotRunError."""
    port = free_port()
    config = log.with_name("firebase.json")
    config.write_text(json.dumps({"emulators": _emulators(port)}))
    command = [found("node"), str(installed(HERE, "node") / FIREBASE)]
    command += ["emulators:start", "--only=auth", f"--project={project}", f"--config={config}"]
    with running(command, port=port, log=log, cwd=log.parent) as address:
        yield address


def _emulators(port: int) -> dict[str, object]:
    """Place everything that would otherwise take well-known ports."""
    others = {name: {"host": HOST, "port": free_port()} for name in ("hub", "logging")}
    return {"auth": {"host": HOST, "port": port}, "ui": {"enabled": False}, **others}
