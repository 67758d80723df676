"""Manual of Keepsake: the pages of docs/ for its users, searched by the words of a question.

It holds nothing of anybody, needs no model and no network, and is read from the release's own files.

Also called: help center, knowledge base.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from shared.domain.value import value
from shared.retrieval.query import QueryTerm, parse_query
from shared.retrieval.terms import tokenize

FOLDER = Path(__file__).parents[3] / "docs"
PAGES = (
    "how-to",
    "start",
    "import",
    "models",
    "settings",
    "memories",
    "retrieval",
    "privacy",
    "quotas",
    "apps",
    "programs",
    "deploy",
    "operate",
    "troubleshoot",
)
MAX_PASSAGE_CHARS = 1_500
TITLE_COUNT = 4
"""A word in a title counts as often as four of it in the text below."""
_FENCE = "```"


@value
class Passage:
    """A part of a page: at most about MAX_PASSAGE_CHARS of one of its sections, as Markdown."""

    page: str
    title: str
    section: str
    text: str


@value
class _Manual:
    """All passages, the words of each, and in how many of them a word stands."""

    passages: Sequence[Passage]
    counts: Sequence[Mapping[str, int]]
    frequencies: Mapping[str, int]


def search_manual(question: str, *, limit: int) -> list[Passage]:
    """Return the passages that fit a question best, best first; none that has no word of it.

    The first call of a process reads the pages: call it in a thread.
    """
    manual = load_manual()
    terms = parse_query(question).query_terms
    scores = [_score(terms, counts, manual) for counts in manual.counts]
    order = sorted(range(len(scores)), key=lambda n: -scores[n])
    return [manual.passages[n] for n in order[:limit] if scores[n] > 0]


@cache
def load_manual() -> _Manual:
    passages = [passage for page in PAGES for passage in _split_page(page)]
    counts = [_count_terms(passage) for passage in passages]
    return _Manual(
        passages=passages,
        counts=counts,
        frequencies=Counter(term for counted in counts for term in counted),
    )


def _count_terms(passage: Passage) -> Counter[str]:
    titles = tokenize(f"{passage.title} {passage.section}") * TITLE_COUNT
    return Counter([*titles, *tokenize(passage.text)])


def _score(terms: Sequence[QueryTerm], counts: Mapping[str, int], manual: _Manual) -> float:
    """Add up the words of the question that a passage has, rare ones counting more."""
    return sum(
        term.weight
        * max((share * _weigh(word, counts, manual) for word, share in term.shares.items()))
        for term in terms
    )


def _weigh(word: str, counts: Mapping[str, int], manual: _Manual) -> float:
    count = counts.get(word, 0)
    if not count:
        return 0.0
    rarity = math.log(1 + len(manual.passages) / manual.frequencies[word])
    return rarity * count / (count + 1)


def _split_page(page: str) -> Iterator[Passage]:
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    title = section = ""
    for heading, lines in _split_sections(text):
        title = title or heading
        section = "" if heading == title else heading
        for passage in _split_lines(lines):
            yield Passage(page=page, title=title, section=section, text=passage)


def _split_sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each heading with the lines below it; a # in a block of code is no heading."""
    heading, lines, is_code = "", list[str](), False
    for line in text.splitlines():
        is_code ^= line.lstrip().startswith(_FENCE)
        if line.startswith("#") and not is_code:
            yield heading, lines
            heading, lines = line.lstrip("# ").removesuffix(" +"), []
        else:
            lines.append(line)
    yield heading, lines


def _split_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines in parts, cut between lines."""
    part = ""
    for line in lines:
        if part and len(part) + len(line) > MAX_PASSAGE_CHARS:
            yield part.strip()
            part = ""
        part += f"{line}\n"
    if part.strip():
        yield part.strip()
