"""Error texts: what people read of an error is a plain sentence, wherever it is raised.

A refused call of a tool is told to the model, with names of tools; it is left out.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from shared.domain import errors

ROOT = Path(__file__).parents[1]
MACHINE_TEXT = re.compile(r"\w_\w|\d{4}-\d\d-\d\dT|[\\^$\[\]{}<>]|\bNone\b|^[a-z]\w*:")
QUOTED = re.compile(r"“[^”]*”|`[^`]*`|'[^']*'")
FOR_MODELS = {"ToolRefused"}
RAISED = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.KeepsakeError)
} - FOR_MODELS | {"build_problem"}


FOLDERS = ("functions", "shared", "infra/local", "infra/model_server", "infra/speech")


@cache
def read_errors() -> Sequence[tuple[str, str]]:
    """Read what is raised or answered as an error, and its texts as they stand in the code, … for what is put in."""
    return [
        (kind, text)
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*.py")
        for call in _list_errors(ast.parse(file.read_text()))
        for kind in [_read_name(call.func)]
        for text in filter(None, map(_read_text, call.args))
    ]


def _list_errors(tree: ast.Module) -> Iterator[ast.Call]:
    raised: set[ast.expr | None] = set()
    for node in ast.walk(tree):  # which comes to a node before what it consists of
        if isinstance(node, ast.Raise):
            raised.add(node.exc)
        elif isinstance(node, ast.Call) and (node in raised or _read_name(node.func) in RAISED):
            yield node


def _read_name(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _read_text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    return "".join(_read_text(part) or "…" for part in parts)


def test_no_error_is_told_in_machine_text_u8() -> None:
    texts = [text for kind, text in read_errors() if kind in RAISED]

    assert len(texts) > 200
    assert [text for text in texts if MACHINE_TEXT.search(QUOTED.sub("", text))] == []


def test_sizes_and_times_are_told_in_units_that_people_count_in_u8() -> None:
    kinds = ("TooLarge", "QuotaExceeded", "Unreadable", "UnreadableFile", "build_problem")
    texts = {text for kind, text in read_errors() if kind in kinds}

    assert {text for text in texts if re.search("… (bytes|seconds)|[KM]iB", text)} == {
        "The upload was announced with … bytes; these are more."
    }
