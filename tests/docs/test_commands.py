"""Commands of the documents: each block runs, or says why not, and every command is one that there is (U12)."""

import logging
import re
import shlex
import subprocess
from contextlib import ExitStack
from itertools import dropwhile
from pathlib import Path

import pytest

from infra.local.routing import ROOT
from shared.telemetry import JsonFormatter
from tests.docs.page import NOT_RUN, RUN_BY, Reader, list_blocks

PAGES = ("start", "models", "import", "deploy", "operate", "programs", "troubleshoot")
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "clients").glob("*/README.md")),
]
REASONS = {
    "needs a container engine": {"docker", "git"},
    "needs a model and its key": {"make"},
    "needs a data set": {"make"},
    "needs Ollama": {"make", "ollama"},
    "needs the file of a model": {"make"},
    "needs a server of your own": {"curl", "git", "grep", "journalctl", "systemctl"},
    "needs a second terminal": {"make"},
    "needs Google Cloud": {"gcloud", "jq", "make", "terraform"},
    "needs an embed of a chat": {"curl"},
    "needs an app and its user": {"curl"},
    "needs a project of Omi's": {"make"},
    "needs npm": {"cd", "npm"},
    "changes what is installed": {"pip"},
    "takes minutes": {"make"},
}
"""What a test has not, and the programs that are not run for want of it; what `make` would do is planned below."""
QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
SETTING = re.compile(r"export$|sudo$|[A-Z_]+=")
CODE = re.compile(r"```.+?```|`[^`]+`", re.DOTALL)
MAKE = re.compile(
    r"(?P<before>(?:[A-Z_]+=\S+ +(?:\\\n *)?)*)\bmake (?P<target>[a-z-]+)(?P<after>(?: +[A-Z_]+=(?:\"[^\"]*\"|[^\s`]+))*)"
)


def find_page(name: str) -> Path:
    return ROOT / "docs" / f"{name}.md"


@pytest.mark.parametrize("name", PAGES)
def test_the_commands_of_a_page_run_in_their_order_u12(name: str, tmp_path: Path) -> None:
    blocks = list_blocks(find_page(name))
    with ExitStack() as stack:
        outputs = list(Reader(tmp_path, stack).follow(blocks))

    assert len(outputs) == sum(not block.mark for block in blocks)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_block_is_run_or_names_the_test_that_runs_it_or_what_it_needs_u12(
    document: Path,
) -> None:
    for block in list_blocks(document):
        if block.mark.startswith(NOT_RUN):
            programs = set(list_programs(block.script))
            assert programs <= REASONS[block.mark.removeprefix(NOT_RUN)], block.script
        elif block.mark.startswith(RUN_BY):
            where = (ROOT / block.mark.removeprefix(RUN_BY)).read_text()
            assert document.name in where or block.script.strip() in where
        else:
            assert document in map(find_page, PAGES), block.script


def list_programs(script: str) -> list[str]:
    """List the programs that a script runs, in its order."""
    plain = QUOTED.sub("…", script.replace("\\\n", " "))
    commands = re.split(r"\n|&|\||;|[$<]\(", re.sub(r"(^|\s)#.*", "", plain))
    words = (dropwhile(SETTING.match, command.split()) for command in commands)
    return [program for command in words if (program := next(command, ""))]


def test_every_fence_of_commands_is_one_that_is_read_u12() -> None:
    """A fence of another name, `bash` or none, would be passed over."""
    fences = (line for document in DOCUMENTS for line in document.read_text().split("\n"))
    languages = {
        line.strip(" `").split(" ")[0] for line in fences if line.strip().startswith("```")
    }

    assert languages == {
        *("", "sh", "console", "text", "json", "ini", "nginx", "caddy", "mermaid", "python", "ts")
    }


def test_a_fence_without_a_name_is_the_end_of_one_u12() -> None:
    for document in DOCUMENTS:
        fences = re.findall(r"^ {0,3}```(.*)$", document.read_text(), re.MULTILINE)
        assert all(fences[::2]), document.name
        assert not any(fences[1::2]), document.name


def list_make_commands() -> set[tuple[str, str]]:
    """List what the documents have make do: a target, and the variables beside it."""
    return {
        (match["target"], " ".join((match["before"] + match["after"]).replace("\\", " ").split()))
        for document in DOCUMENTS
        for code in CODE.findall(document.read_text())
        for match in MAKE.finditer(code)
    }


def test_make_knows_every_target_and_variable_of_the_documents_u12() -> None:
    sources = ("Makefile", "docs/settings.md", "tests/conftest.py")
    known = "".join((ROOT / source).read_text() for source in sources)
    commands = list_make_commands()

    assert len(commands) > 60
    for target, variables in sorted(commands):
        words = shlex.split(variables)
        names = [word.partition("=")[0] for word in words]
        assert [name for name in names if not re.search(rf"\b{name}\b", known)] == [], target
        planned = subprocess.run(
            ["make", "--dry-run", "--silent", target, *words],
            cwd=ROOT,
            capture_output=True,
            check=False,
        )
        assert planned.returncode == 0, (target, variables)


def test_the_search_in_the_log_finds_what_failed_u12() -> None:
    [searched] = re.findall(r"grep '(.+)'", find_page("operate").read_text())
    record = logging.LogRecord("keepsake", logging.ERROR, "", 0, "turn_failed", (), None)

    assert searched in JsonFormatter(None).format(record)


@pytest.mark.parametrize("name", PAGES)
def test_the_readme_leads_to_every_page_u12(name: str) -> None:
    assert f"docs/{name}.md" in (ROOT / "README.md").read_text()
