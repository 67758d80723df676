"""How the offline model words an answer: it quotes what the tools found, and cites it; pure."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from shared.adapters.offline_planner import LIBRARY, content
from shared.domain.value import value
from shared.retrieval.frequencies import weight

GREETING = (
    "Hello! I am Keepsake's offline model: I do not write answers of my own, I quote your "
    "conversations and memories. Ask me what somebody said, what you planned, or what happened "
    "yesterday."
)
GENERAL = (
    "I am Keepsake's offline model: I quote your conversations and memories, and know nothing of the "
    "world beyond them. A language model can answer that, if you set OPENAI_API_KEY."
)
NOTHING = (
    "I found nothing about that in your conversations and memories. I look for the words of your "
    "question, so it may help to ask with other words, or to add the conversation first."
)
SEARCH_DOWN = (
    "I could not search everything just now, so something about that may be missing. Please try "
    "again in a minute."
)
_MAX_QUOTES = 3
_MAX_OVERVIEWS = 10
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_NAMELESS = re.compile(r"(SPEAKER|Speaker)[_ ]?\d*")


@value
class Quote:
    """A sentence and who said it; `document` is the number it is cited by."""

    text: str
    speaker: str = ""
    document: int | None = None

    def __str__(self) -> str:
        said = f"{self.speaker}: “{self.text}”" if self.speaker else f"“{self.text}”"
        return f"{said}[{self.document}]" if self.document else said


def answer(question: str, results: Sequence[tuple[str, str]]) -> str:
    """Answer from `(tool name, text)` pairs: the apps' words, or the sentences closest to the question."""
    relayed = [_relayed(text) for name, text in results if name not in LIBRARY]
    found = [_parsed(text) for name, text in results if name in LIBRARY]
    failed = any(name in LIBRARY and text.startswith("Error: ") for name, text in results)
    parts = [*relayed, *_quoted(question, found), *([SEARCH_DOWN] if failed else [])]
    return "\n\n".join(parts) or NOTHING


def _relayed(text: str) -> str:
    return text.replace("Error: ", "That did not work: ", 1) if text.startswith("Error: ") else text


def _parsed(text: str) -> dict[str, Any]:
    """Read a library tool's answer; one that is no JSON says that the tool did not work."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _quoted(question: str, found: Sequence[dict[str, Any]]) -> list[str]:
    documents = _unique([result for part in found for result in part.get("results", [])])
    memories = [memory for part in found for memory in part.get("memories", [])]
    quotes = [str(quote) for quote in _best(question, [*_sentences(documents), *_facts(memories)])]
    lines = quotes or list(islice(map(_overview, documents), _MAX_OVERVIEWS))
    return ["Here is what I found:", "\n".join(f"- {line}" for line in lines)] if lines else []


def _unique(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep one result per document, with passages where one has them."""
    kept: dict[int, dict[str, Any]] = {}
    for result in results:
        if not kept.get(result["document"], {}).get("passages"):
            kept[result["document"]] = result
    return list(kept.values())


def _sentences(documents: Sequence[dict[str, Any]]) -> Iterator[Quote]:
    for result in documents:
        for passage in result.get("passages", []):
            for line in passage.splitlines():
                yield from _of_line(line, result["document"])


def _of_line(line: str, document: int) -> Iterator[Quote]:
    speaker, colon, said = line.partition(": ")
    if not colon:
        speaker, said = "", line
    named = "" if _NAMELESS.fullmatch(speaker) else speaker
    for text in filter(None, map(str.strip, _SENTENCE.split(said))):
        yield Quote(text=text, speaker=named, document=document)


def _facts(memories: Sequence[dict[str, Any]]) -> Iterator[Quote]:
    for memory in memories:
        yield Quote(text=memory["text"], document=memory.get("document"))


def _best(question: str, quotes: Sequence[Quote]) -> list[Quote]:
    """Return the closest sentences, best first; ties stay in the order the search gave.

    A question lends its closeness to the reply: "Yes, walnuts" shares no word with what was asked.
    """
    asked = content(question)
    scored: dict[Quote, float] = {}
    lent = 0.0
    for quote in quotes:
        own = float(sum(map(weight, asked & content(quote.text))))
        scored[quote] = max(own, lent, scored.get(quote, 0.0))
        lent = own if quote.text.endswith(("?", "？")) else 0.0
    close = [quote for quote, score in scored.items() if score]
    top = sorted(close, key=lambda quote: -scored[quote])[:_MAX_QUOTES]
    return [quote for quote in top if scored[quote] * 2 >= scored[top[0]]]


def _overview(result: dict[str, Any]) -> str:
    title, overview = result.get("title", ""), result.get("overview", "")
    return f"{': '.join(filter(None, [title, overview]))}[{result['document']}]"
