"""Pages as their readers follow them: the blocks of commands, in their order.

```sh             runs
```sh serve       starts the server, as a second terminal does; it stops the one before
```sh run by …    runs in a test of its own, which it names
```sh not run: …  needs what a test has not, and says what

A block of `console` shows prompts and output; it runs in a test of its own, or not.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx

from infra.emulators.process import find_free_port, run_process
from infra.local.routing import ROOT
from tests.e2e.waiting import wait_until

BLOCK = re.compile(
    r"^ {0,3}```(?P<language>sh|console)(?: (?P<mark>[^\n]+))?\n(?P<script>.+?)^ {0,3}```$",
    re.MULTILINE | re.DOTALL,
)
PROMPT = "$ "
NOT_RUN = "not run: "
RUN_BY = "run by "
TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Block:
    """Commands of a page, and how they are marked."""

    script: str
    mark: str


def list_blocks(page: Path) -> list[Block]:
    return [
        Block(_read_script(match), match["mark"] or "")
        for match in BLOCK.finditer(page.read_text())
    ]


def _read_script(match: re.Match[str]) -> str:
    """Read the commands; in a console they stand behind prompts, among their output."""
    script = match["script"]
    return "\n".join(_list_typed(script)) if match["language"] == "console" else script


def _list_typed(console: str) -> Iterator[str]:
    """List the commands: a line behind a prompt, and those after an open quotation or a backslash."""
    command: list[str] = []
    for line in console.split("\n"):
        if command or line.startswith(PROMPT):
            command.append(line.removeprefix(PROMPT))
        typed = "\n".join(command)
        if command and typed.count("'") % 2 == 0 and not typed.endswith("\\"):
            yield typed
            command = []


class Reader:
    """Somebody who has cloned the repository, and types what a page says."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._server = stack.enter_context(ExitStack())
        self._port = find_free_port()
        for path in ROOT.iterdir():
            if path.name not in {".git", ".keepsake", ".venv"}:
                (folder / path.name).symlink_to(path)
        (folder / ".venv").symlink_to(sys.prefix)
        self._environment = _build_environment(folder, self._port)

    def follow(self, blocks: Sequence[Block]) -> Iterator[str]:
        """Run what can be run; yields the output of each block."""
        for block in blocks:
            if block.mark == "serve":
                self._serve(block.script)
            elif not block.mark:
                yield self._run(block.script)

    def _run(self, script: str) -> str:
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self._localise(script)],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            check=False,
            text=True,
            timeout=TIMEOUT_S,
        )
        output = result.stdout + result.stderr
        assert result.returncode == 0, f"{script}\n{output}"
        return output

    def _serve(self, script: str) -> None:
        """Run a block whose last command serves until it is stopped."""
        self._server.close()
        *before, last = self._localise(script).strip().splitlines()
        command = "\n".join([*before, f"exec env {last}"])
        settings = [f"{name}={text}" for name, text in self._environment.items()]
        self._server.enter_context(
            run_process(
                ["env", "-i", *settings, "bash", "-euo", "pipefail", "-c", command],
                port=self._port,
                log=self._folder / "server.log",
                cwd=self._folder,
            )
        )
        wait_until(lambda: httpx.get(f"http://127.0.0.1:{self._port}/healthz").is_success or None)

    def _localise(self, script: str) -> str:
        return re.sub(r"\b(localhost|127\.0\.0\.1):8080\b", rf"\1:{self._port}", script)


def _build_environment(folder: Path, port: int) -> Mapping[str, str]:
    """Return a plain environment, in which make installs nothing."""
    tools = folder / ".tools"
    tools.mkdir()
    make = tools / "make"
    make.write_text(
        '#!/bin/sh\nPATH="${PATH#*:}" exec make -o .venv/ready -o .venv/ready-dev "$@"\n'
    )
    make.chmod(0o700)
    return {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "HOME": str(folder),
        "PORT": str(port),
        "LANG": "C.UTF-8",
    }
