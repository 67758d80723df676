"""Auth emulator of firebase-tools: issues and checks real ID tokens, unsigned."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.emulators.node import find_command, install_packages
from infra.emulators.process import HOST, find_free_port, run_server

HERE = Path(__file__).parent
FIREBASE = "node_modules/firebase-tools/lib/bin/firebase.js"


@contextmanager
def run_auth(log: Path, *, project: str) -> Iterator[str]:
    """Run it for a project named `demo-…` and yield `host:port`. Raises CannotRunError."""
    port = find_free_port()
    config = log.with_name("firebase.json")
    config.write_text(json.dumps({"emulators": _build_emulator_config(port)}))
    command = [find_command("node"), str(install_packages(HERE, "node") / FIREBASE)]
    command += ["emulators:start", "--only=auth", f"--project={project}", f"--config={config}"]
    with run_server(command, port=port, log=log, cwd=log.parent) as address:
        yield address


def _build_emulator_config(port: int) -> dict[str, object]:
    """Assign free ports instead of the well-known ones."""
    others = {name: {"host": HOST, "port": find_free_port()} for name in ("hub", "logging")}
    return {"auth": {"host": HOST, "port": port}, "ui": {"enabled": False}, **others}
