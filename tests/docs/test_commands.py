"""Commands of the pages by task: each block runs, or says why not (U12)."""

import re
from contextlib import ExitStack
from pathlib import Path

import pytest

from infra.local.routing import ROOT
from tests.docs.page import NOT_RUN, Reader, list_blocks

PAGES = ("start", "models", "import", "deploy", "operate", "troubleshoot")
REASONS = {
    "needs a container engine": 4,
    "needs a model and its key": 2,
    "needs Ollama": 1,
    "needs the file of a model": 1,
    "needs a server of your own": 4,
    "needs a second terminal": 2,
    "needs Google Cloud": 12,
}
"""How many blocks stand in the pages for each reason that a test has not what they need."""


def find_page(name: str) -> Path:
    return ROOT / "docs" / f"{name}.md"


@pytest.mark.parametrize("name", PAGES)
def test_the_commands_of_a_page_run_in_their_order_u12(name: str, tmp_path: Path) -> None:
    blocks = list_blocks(find_page(name))
    with ExitStack() as stack:
        outputs = list(Reader(tmp_path, stack).follow(blocks))

    assert len(outputs) == sum(not block.mark for block in blocks)


def test_every_block_that_is_not_run_gives_a_known_reason_u12() -> None:
    marks = [block.mark for name in PAGES for block in list_blocks(find_page(name))]
    reasons = [mark.removeprefix(NOT_RUN) for mark in marks if mark not in ("", "serve")]

    assert {reason: reasons.count(reason) for reason in reasons} == REASONS


def test_every_fence_of_commands_is_one_that_is_read_u12() -> None:
    """A fence of another name, `bash` or `console`, would be passed over."""
    languages = {
        line.removeprefix("```").split(" ")[0]
        for name in PAGES
        for line in find_page(name).read_text().splitlines()
        if line.startswith("```")
    }

    assert languages <= {"", "sh", "text", "ini", "nginx", "caddy", "yaml"}


def test_every_message_that_troubleshooting_explains_is_said_by_the_code_u12() -> None:
    page = find_page("troubleshoot").read_text()
    messages = re.findall(r"^- `(.+?)`: ", page, re.MULTILINE)
    pieces = {piece.strip() for message in messages for piece in message.split("…")} - {""}
    code = read_code()

    assert len(messages) > 15
    assert {piece for piece in pieces if piece not in code} == set()


def read_code() -> str:
    """Read all that is written for people: texts over several lines as one, values left out."""
    folders = ("functions", "shared", "infra", "web")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.[pj][ys]")]
    code = "\n".join(path.read_text() for path in [ROOT / "Makefile", *files])
    return re.sub(r'"\n\s+f?"', "", code)


@pytest.mark.parametrize("name", PAGES)
def test_the_readme_leads_to_every_page_u12(name: str) -> None:
    assert f"docs/{name}.md" in (ROOT / "README.md").read_text()
