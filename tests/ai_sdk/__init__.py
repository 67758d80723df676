"""Streams as a web client reads them: the official `ai` package, run by Node.js."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from infra.emulators.node import find_command, install_packages

HERE = Path(__file__).parent
MAJOR_VERSIONS = ("5", "6", "7")
"""The package's versions that speak version 1 of the stream."""


class SdkClient:
    """One process of Node.js that answers request by request."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, major: str, how: str, origin: str, *, token: str = "", argument: str = "") -> Any:
        """Ask read.mjs, which says what `how` may be."""
        request = {
            "major": major, "how": how, "origin": origin, "token": token, "argument": argument,
        }  # fmt: skip
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def run_client() -> Iterator[SdkClient]:
    """Raises CannotRunError where there is no Node.js or no package."""
    folder, node = install_packages(HERE, "ai-sdk"), find_command("node")
    code = (HERE / "read.mjs").read_text()
    with subprocess.Popen(
        [node, "--input-type=module", "--eval", code],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        yield SdkClient(process)
