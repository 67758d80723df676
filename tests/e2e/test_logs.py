"""Logs of the product: short lines in a terminal, JSON through a pipe; and the list of commands (U13)."""

import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from infra.emulators.process import find_free_port
from infra.local.routing import ROOT
from tests.e2e.product import EXIT_TIMEOUT_S, build_command, run_product

ESCAPES = re.compile(r"\x1b\[\d*m")


@contextmanager
def run_in_terminal(folder: Path) -> Iterator[tuple[str, int]]:
    """Start the product in a terminal; yields its origin and the terminal's other end."""
    reader, terminal = pty.openpty()
    port = find_free_port()
    command = build_command(PORT=str(port), DATA_DIR=str(folder / "data"))
    with subprocess.Popen(command, cwd=ROOT, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        try:
            yield f"http://127.0.0.1:{port}", reader
        finally:
            process.terminate()
            process.wait(EXIT_TIMEOUT_S)
            os.close(reader)


def read_until(reader: int, pattern: str) -> str:
    """Return what was read, without colours, as soon as the pattern is in it."""
    text = ""
    while not re.search(pattern, text := ESCAPES.sub("", text)):
        text += os.read(reader, 65_536).decode()
    return text


def test_a_terminal_shows_one_short_line_a_request_u13(tmp_path: Path) -> None:
    with run_in_terminal(tmp_path) as (origin, reader):
        greeting = read_until(reader, "stop with Ctrl-C")
        httpx.get(f"{origin}/v1/conversations", timeout=EXIT_TIMEOUT_S)
        text = read_until(reader, "/v1/conversations .* ms")

    assert greeting.startswith("keepsake: http://127.0.0.1:")
    [line] = [line for line in text.splitlines() if "/v1/conversations" in line]
    assert re.match(r"\d\d:\d\d:\d\d library: GET /v1/conversations 401 refused [\d.]+ ms", line)


def test_a_pipe_gets_json_u13(tmp_path: Path) -> None:
    with run_product(tmp_path) as product:
        httpx.get(f"{product.origin}/v1/conversations")
    lines = (tmp_path / "product.log").read_text().splitlines()

    [event] = [json.loads(line) for line in lines if "/v1/conversations" in line]
    assert (event["function"], event["status"]) == ("library", 401)


def test_make_help_lists_every_command_in_groups_u13() -> None:
    makefile = (ROOT / "Makefile").read_text()
    described = re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE)
    [phony] = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    help_text = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
        timeout=30,
    ).stdout

    groups = [line for line in help_text.splitlines() if re.match(r"\w", line)]
    assert groups[:2] == ["Start", "Your data"]
    assert re.findall(r"^  ([a-z-]+) ", help_text, re.MULTILINE) == described
    assert sorted(phony.split()) == sorted(described)
