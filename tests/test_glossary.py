"""The glossary's index: a search for each phrase finds its file among the first three hits."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
ROW = re.compile(r"^\| ([^|]+) \| \[([^\]]+)\]\(\.\./([^)]+)\) \|$", re.MULTILINE)
MAX_HITS = 3
REQUIRED = {
    "conversation list route", "app registration", "OAuth state", "message assembly",
    "conversation cache", "idempotency of questions", "notification limit", "system prompt",
    "dead letters", "egress rules", "prompt injection", "CSRF", "circuit breaker", "deduplication",
    "schema validation of tool calls", "lease", "resume", "citations", "reconcile",
    "webhook delivery", "deduplicate", "rate limit", "backoff", "idempotency", "fencing token",
    "pagination", "sanitize", "evict", "allow-list",
}  # fmt: skip


def read_index() -> dict[str, str]:
    index = GLOSSARY.read_text().partition("## Index")[2]
    return {phrase: path for phrase, _, path in ROW.findall(index)}


def to_words(text: str) -> str:
    """Write a path or a text as lower-case words, as a search ignores case and separators."""
    return re.sub(r"[_/-]", " ", text.lower())


@cache
def load_searchable_lines() -> dict[str, list[str]]:
    """Return the path and the docstring lines of each module and prompt, in path order."""
    paths = [p for top in ("functions", "shared") for p in (ROOT / top).rglob("*")]
    names = sorted(str(p.relative_to(ROOT)) for p in paths if p.suffix in (".py", ".md"))
    return {name: [to_words(name), *read_docstring_lines(ROOT / name)] for name in names}


def read_docstring_lines(path: Path) -> list[str]:
    docstring = ast.get_docstring(ast.parse(path.read_text())) if path.suffix == ".py" else None
    return to_words(docstring or "").splitlines()


def search(phrase: str) -> list[str]:
    wanted = to_words(phrase)
    lines_by_file = load_searchable_lines()
    return [name for name, lines in lines_by_file.items() if any(wanted in line for line in lines)]


@pytest.mark.parametrize(("phrase", "path"), read_index().items())
def test_a_search_finds_the_indexed_file_among_the_first_three_hits(phrase, path):
    assert path in search(phrase)[:MAX_HITS]


def test_the_index_holds_every_required_phrase():
    assert set(read_index()) >= REQUIRED
