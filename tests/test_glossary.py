"""Finding a file: a search for a phrase or usual word has its file among the first three hits."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.test_docstrings import read_docstring

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
ROW = re.compile(
    r"^\| \[(?P<phrase>[^\]]+)\]\(\.\./(?P<path>[^)]+)\) \| (?P<names>[^|]*)\|$",
    re.MULTILINE,
)
USUAL_NAMES = re.compile(r"Also called: (.+?)\.?$", re.DOTALL)
MAX_HITS = 3
REQUIRED = {
    "conversation list route", "app registration", "OAuth state", "message assembly",
    "conversation cache", "idempotency of questions", "notification limit", "system prompt",
    "dead letters", "egress rules", "prompt injection", "CSRF", "circuit breaker", "deduplication",
    "schema validation of tool calls", "lease", "resume", "citations", "reconcile",
    "webhook delivery", "deduplicate", "rate limit", "backoff", "idempotency", "fencing token",
    "pagination", "sanitize", "evict", "allow-list",
}  # fmt: skip
USUAL_WORDS = {
    "authentication", "authorization", "permissions", "access token", "refresh token", "PKCE",
    "JWT verification", "login", "HMAC signature", "SSRF", "CORS", "encryption at rest",
    "end-to-end encryption", "key rotation", "PII", "redaction", "multi-tenancy", "audit log",
    "content moderation", "guardrails", "jailbreak detection", "human in the loop",
    "function calling", "tool calling", "context window", "prompt caching", "prompt templates",
    "structured output", "long-term memory", "summarization", "SSE", "streaming",
    "server-sent events", "embeddings", "vector store", "hybrid search", "semantic search",
    "full-text search", "BM25", "tokenizer", "repository pattern", "serializer", "dependency injection",
    "configuration", "environment variables", "health check", "metrics", "logging",
    "distributed tracing", "queue", "task queue", "background jobs", "cron job",
    "dead letter queue", "message broker", "throttling", "exponential backoff",
    "backpressure", "distributed lock", "optimistic locking", "idempotency key", "cursor",
    "upsert", "soft delete", "right to erasure", "GDPR export", "billing", "push notifications",
    "do not disturb", "timezone setting", "i18n", "file upload", "resumable upload",
    "thumbnails", "speech to text", "diarization", "plugins", "Model Context Protocol",
}  # fmt: skip


def read_index() -> list[tuple[list[str], str]]:
    """Return the phrases of each row, the usual words among them, with its path."""
    index = GLOSSARY.read_text().partition("## Index")[2]
    return [
        ([row["phrase"], *filter(None, row["names"].strip().split(", "))], row["path"])
        for row in ROW.finditer(index)
    ]


def list_phrases() -> list[tuple[str, str]]:
    return [(phrase, path) for phrases, path in read_index() for phrase in phrases]


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
    return to_words(read_docstring(path)).splitlines() if path.suffix == ".py" else []


def search(phrase: str) -> list[str]:
    wanted = to_words(phrase)
    lines_by_file = load_searchable_lines()
    return [name for name, lines in lines_by_file.items() if any(wanted in line for line in lines)]


@pytest.mark.parametrize(("phrase", "path"), list_phrases())
def test_a_search_finds_the_indexed_file_among_the_first_three_hits(phrase, path):
    assert path in search(phrase)[:MAX_HITS]


def list_usual_names() -> list[tuple[str, str]]:
    """Return what the modules say that they are also called, with their paths."""
    docstrings = {
        name: read_docstring(ROOT / name)
        for name in load_searchable_lines()
        if name.endswith(".py")
    }
    return [
        (" ".join(phrase.split()), name)
        for name, docstring in docstrings.items()
        for names in USUAL_NAMES.findall(docstring)
        for phrase in names.split(",")
    ]


def test_a_search_finds_a_file_by_each_of_its_usual_names():
    names = list_usual_names()

    assert len(names) > 500
    assert [each for each in names if each[1] not in search(each[0])[:MAX_HITS]] == []


def test_the_index_holds_every_required_phrase():
    assert {phrase for phrase, _ in list_phrases()} >= REQUIRED


def test_every_row_of_the_index_is_read():
    index = GLOSSARY.read_text().partition("## Index")[2]

    assert len(read_index()) == index.count("](../")


def test_the_index_holds_the_usual_words_of_the_field():
    assert {phrase for phrase, _ in list_phrases()} >= USUAL_WORDS
