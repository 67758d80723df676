"""Recipes of CONTRIBUTING.md: followed in a copy of the tree, and a step that is left out is named by a check."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from shared.domain.value import value

ROOT = Path(__file__).parents[1]
FOLDERS = ("clients/python", "docs", "functions", "infra", "shared", "tests", "web")
PYTEST = ("pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--basetemp=.tests")


@value
class Edit:
    """What a person adds to the files of a step, behind a text that stands there, or ahead of one.

    `check` is a command of `python -m`: without the edit it fails, and its output has the word `named`.
    `module` writes the files instead.
    """

    step: int
    files: Sequence[str]
    added: str = ""
    behind: str = ""
    ahead: str = ""
    module: str = ""
    check: Sequence[str]
    named: str


def ask(test: str) -> Sequence[str]:
    return (*PYTEST, test)


CHAT_TESTS = "tests/functions/chat"
NAME_CHECK = ask(
    f"{CHAT_TESTS}/test_tool_names.py::test_every_tool_that_a_chat_may_offer_has_a_reserved_name_s3"
)
BUILDER_CHECK = ask(
    f"{CHAT_TESTS}/test_tool_names.py::test_every_builder_of_tools_is_called_by_another_module_s3"
)
STATUS_CHECK = ask(
    f"{CHAT_TESTS}/test_languages.py::test_a_catalog_holds_what_is_said_and_nothing_else_p17"
)
CONSOLE_CHECK = ask(
    "tests/web/test_languages.py::test_every_tool_of_a_chat_has_a_name_in_words_in_every_language"
)
CALL_CHECK = ask(
    f"{CHAT_TESTS}/test_shown_results.py"
    "::test_every_tool_that_a_plain_question_is_offered_is_called_here"
)
TOOLS_FILE = "functions/chat/tools/word_tools.py"
ARGUMENTS = '''"""Word tool: how long a text is."""

from typing import Annotated

from pydantic import Field

from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import ResultRenderer, Tool, render_fixed
from shared.arguments import Arguments


class CountWords(Arguments):
    """Count the words of a text."""

    text: Annotated[str, Field(min_length=1, max_length=5_000)]
'''
BUILDER = """

def build_word_tools() -> list[Tool]:
    return [
        build_builtin_tool(
            "count_words", "Counting words", CountWords, _count_words, tool_class="read"
        )
    ]
"""
HANDLER = """

async def _count_words(arguments: CountWords) -> ResultRenderer:
    return render_fixed(f"{len(arguments.text.split())} words")
"""
TOOL = (
    Edit(
        step=1,
        files=[TOOLS_FILE],
        added=ARGUMENTS,
        check=("ruff", "check", TOOLS_FILE),
        named="Undefined name `CountWords`",
    ),
    Edit(
        step=3,
        files=[TOOLS_FILE],
        behind=ARGUMENTS,
        added=BUILDER,
        check=BUILDER_CHECK,
        named="build_word_tools",
    ),
    Edit(
        step=2,
        files=[TOOLS_FILE],
        behind=BUILDER,
        added=HANDLER,
        check=("ruff", "check", TOOLS_FILE),
        named="Undefined name `_count_words`",
    ),
    Edit(
        step=4,
        files=["shared/domain/chats/built_in_names.py"],
        behind='    "find_app_tools",\n',
        added='    "count_words",\n',
        check=NAME_CHECK,
        named="count_words",
    ),
    Edit(
        step=5,
        files=["functions/chat/turn/question_tools.py"],
        behind="from functions.chat.tools.web_tools import build_web_tools\n",
        added="from functions.chat.tools.word_tools import build_word_tools\n",
        check=BUILDER_CHECK,
        named="build_word_tools",
    ),
    Edit(
        step=5,
        files=["functions/chat/turn/question_tools.py"],
        behind="            *build_details_tools(deps, uid, session, profile),\n",
        added="            *build_word_tools(),\n",
        check=("ruff", "check", "functions/chat/turn/question_tools.py"),
        named="build_word_tools",
    ),
    Edit(
        step=6,
        files=[f"shared/languages/{name}.json" for name in ("de", "es", "fr", "ja", "pt", "zh")],
        behind="{\n",
        added='  "Counting words": "…",\n',
        check=STATUS_CHECK,
        named="Counting words",
    ),
    Edit(
        step=7,
        files=["web/words.js"],
        behind="const LIBRARY_TOOLS = {\n",
        added='  count_words: t("Count words"),\n',
        check=CONSOLE_CHECK,
        named="count_words",
    ),
    Edit(
        step=7,
        files=[f"web/languages/{name}.json" for name in ("de", "es", "fr", "ja")],
        ahead='  "Country": ',
        added='  "Count words": "…",\n',
        check=CONSOLE_CHECK,
        named="count_words",
    ),
    Edit(
        step=8,
        files=[f"{CHAT_TESTS}/test_shown_results.py"],
        behind='    "search_web": {"query": "bread"},\n',
        added='    "count_words": {"text": "One, two"},\n',
        check=CALL_CHECK,
        named="count_words",
    ),
)

DOMAIN_FILE = "shared/domain/conversations/conversation.py"
SCHEMAS_FILE = "shared/library/conversation_schemas.py"
LIBRARY_TESTS = "tests/functions/library/conversations"
FIELDS_TEST = f"{LIBRARY_TESTS}/test_conversation_fields.py"
FIELDS_CHECK = ask(FIELDS_TEST)
READ_CHECK = ask(
    f"{LIBRARY_TESTS}/test_library.py::test_a_conversation_is_accepted_processed_and_read"
)
FIELD = (
    Edit(
        step=1,
        files=[DOMAIN_FILE],
        behind="    external_data: Mapping[str, Any] | None = None\n",
        added="    device: str | None = None\n",
        check=FIELDS_CHECK,
        named="device",
    ),
    Edit(
        step=2,
        files=[SCHEMAS_FILE],
        behind="    external_data: ExternalData | None = None\n",
        added="    device: Label | None = None\n",
        check=FIELDS_CHECK,
        named="device",
    ),
    Edit(
        step=2,
        files=[SCHEMAS_FILE],
        behind="            external_data=self.external_data,\n",
        added="            device=self.device,\n",
        check=FIELDS_CHECK,
        named="device",
    ),
    Edit(
        step=3,
        files=[SCHEMAS_FILE],
        behind="    external_data: dict[str, Any] | None\n",
        added="    device: str | None\n",
        check=FIELDS_CHECK,
        named="device",
    ),
    Edit(
        step=4,
        files=["shared/domain/conversations/merged_transcript.py"],
        behind="        external_data=_find_first(source.external_data for source in in_order),\n",
        added="        device=_find_first(source.device for source in in_order),\n",
        check=FIELDS_CHECK,
        named="device",
    ),
    Edit(
        step=5,
        files=[FIELDS_TEST],
        behind='    "external_data": {"text": "A mail"},\n',
        added='    "device": "Pendant",\n',
        check=FIELDS_CHECK,
        named="device",
    ),
    Edit(
        step=6,
        files=[FIELDS_TEST],
        behind='    "external_data": {"webhook tells"},\n',
        added='    "device": set(),\n',
        check=FIELDS_CHECK,
        named="device",
    ),
    Edit(
        step=7,
        files=[f"{LIBRARY_TESTS}/test_library.py"],
        behind='    "external_data": None,\n',
        added='    "device": None,\n',
        check=READ_CHECK,
        named="device",
    ),
    Edit(
        step=8,
        files=["docs/openapi.json"],
        module="infra.openapi",
        check=ask(
            "tests/infra/test_openapi.py::test_the_committed_document_matches_the_route_tables"
        ),
        named="python -m infra.openapi",
    ),
    Edit(
        step=9,
        files=["clients/python/keepsake_client/types.py"],
        module="infra.client_types",
        check=ask("tests/clients/test_python_client.py::test_the_types_are_those_of_the_api"),
        named="make clients",
    ),
)
RECIPES: Mapping[str, Sequence[Edit]] = {
    "Add a tool of a chat": TOOL,
    "Add a field of a conversation": FIELD,
}
LEFT_OUT = [
    pytest.param(edit, id=f"{name}, step {edit.step}: {edit.files[0]}")
    for name, edits in RECIPES.items()
    for edit in edits
]


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    """Follow the recipes in a copy of the tree, without what is installed or built in it."""
    with TemporaryDirectory() as folder:
        tree = Path(folder)
        for name in FOLDERS:
            ignored = shutil.ignore_patterns(".*", "__pycache__", "node_modules")
            shutil.copytree(ROOT / name, tree / name, ignore=ignored)
        shutil.copy2(ROOT / "pyproject.toml", tree)
        for edit in (*TOOL, *FIELD):
            follow(tree, edit)
        yield tree


@pytest.mark.parametrize("name", RECIPES)
def test_all_checks_pass_with_every_step_done(tree: Path, name: str) -> None:
    edits = RECIPES[name]
    sources = {file for edit in edits for file in edit.files if file.endswith(".py")}
    tests = {edit.check[-1] for edit in edits if edit.check[0] == "pytest"}

    for check in (("check",), ("format", "--check")):
        checked = run(tree, "ruff", *check, "--force-exclude", *sources)
        assert checked.returncode == 0, checked.stdout
    tested = run(tree, *PYTEST, *tests)

    assert tested.returncode == 0, tested.stdout


@pytest.mark.parametrize("edit", LEFT_OUT)
def test_a_step_that_is_left_out_is_named(tree: Path, edit: Edit) -> None:
    with leave_out(tree, edit):
        checked = run(tree, *edit.check)

    lines = [*checked.stdout.splitlines(), *checked.stderr.splitlines()]
    is_tested = edit.check[0] == "pytest"
    errors = [line for line in lines if line.startswith("E ") or not is_tested]
    assert checked.returncode != 0
    assert edit.named in "\n".join(errors)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_names_the_files_of_each_step(name: str) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    recipe = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
    steps = re.split(r"^\d+\. ", recipe, flags=re.MULTILINE)

    assert len(steps) == 1 + max(edit.step for edit in RECIPES[name])
    for edit in RECIPES[name]:
        places = re.findall(r"`([^`]+)`", steps[edit.step])
        assert [file for file in edit.files if not is_named(file, places)] == []


def test_every_path_that_contributing_names_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    paths = {path for path in re.findall(r"`([\w./*-]+/[\w./*-]*)`", text) if path[0] != "/"}

    assert {path for path in paths if not [*ROOT.glob(path.rstrip("/"))]} == set()


def is_named(file: str, places: Sequence[str]) -> bool:
    return any(fnmatch(file, place) for place in places)


def follow(tree: Path, edit: Edit) -> None:
    if edit.module:
        written = run(tree, edit.module)
        assert written.returncode == 0, written.stderr
        return
    for name in edit.files:
        file = tree / name
        text = file.read_text() if file.exists() else ""
        beside = edit.behind or edit.ahead
        assert beside in text, f"{name} has no {beside!r} any more"
        file.write_text(text.replace(beside, f"{edit.behind}{edit.added}{edit.ahead}", 1))


@contextmanager
def leave_out(tree: Path, edit: Edit) -> Iterator[None]:
    """Take an edit back, or what a module wrote, and make it again."""
    done = {tree / name: (tree / name).read_text() for name in edit.files}
    for name in edit.files:
        file = tree / name
        original = (ROOT / name).read_text() if edit.module else None
        file.write_text(original or done[file].replace(edit.added, "", 1))
    try:
        yield
    finally:
        for file, text in done.items():
            file.write_text(text)


def run(tree: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python in the copy, apart from the run of tests that this one is part of."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=tree,
        env={**inherited, "PYTHONPATH": str(tree), "RUFF_NO_CACHE": "true"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
