"""Answers of the offline model: cited quotations of what the tools returned; pure."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from shared.adapters.embedded.offline.planner import LIBRARY_TOOLS, extract_content_terms
from shared.domain.value import value
from shared.retrieval.term_weights import get_term_weight

GREETING = (
    "Hello! I am Keepsake's offline model: I do not write answers of my own, I quote your "
    "conversations and memories, and I understand English only. Ask me what somebody said, what you "
    "planned, or what happened yesterday."
)
CANNOT_ANSWER_GENERAL = (
    "I am Keepsake's offline model: I quote your conversations and memories, and know nothing of the "
    "world beyond them. A language model can answer that, if you set OPENAI_API_KEY."
)
NOTHING_FOUND = (
    "I found nothing about that in your conversations and memories. I look for the words of your "
    "question, so it may help to ask with other words, or to add the conversation first."
)
SEARCH_DOWN = (
    "I could not search everything just now, so something about that may be missing. Please try "
    "again in a minute."
)
CONSENT_NEEDED = "I did not do that: it needs your consent."
_CONSENT_PREFIX = "Error: The owner "
"""Begins the reasons why the owner's consent is missing; their words are for models."""
_MAX_QUOTES = 3
_MAX_OVERVIEWS = 10
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_UNNAMED_SPEAKER = re.compile(r"(SPEAKER|Speaker)[_ ]?\d*")


@value
class Quote:
    """A sentence with its speaker; `document` is the number it is cited by."""

    text: str
    speaker: str = ""
    document: int | None = None

    def __str__(self) -> str:
        quotation = f"{self.speaker}: “{self.text}”" if self.speaker else f"“{self.text}”"
        return f"{quotation}[{self.document}]" if self.document else quotation


def answer(question: str, results: Sequence[tuple[str, str]]) -> str:
    """Answer from `(tool name, text)` pairs: the apps' texts and the sentences closest to the question."""
    app_parts = [_format_app_text(text) for name, text in results if name not in LIBRARY_TOOLS]
    tool_results = [_parse_result(text) for name, text in results if name in LIBRARY_TOOLS]
    is_search_down = any(
        name in LIBRARY_TOOLS and text.startswith("Error: ") for name, text in results
    )
    parts = [
        *app_parts,
        *_format_quotes(question, tool_results),
        *([SEARCH_DOWN] if is_search_down else []),
    ]
    return "\n\n".join(parts) or NOTHING_FOUND


def _format_app_text(text: str) -> str:
    if text.startswith(_CONSENT_PREFIX):
        return CONSENT_NEEDED
    return text.replace("Error: ", "That did not work: ", 1) if text.startswith("Error: ") else text


def _parse_result(text: str) -> dict[str, Any]:
    """Parse a library tool's answer; an error text is no JSON and has no results."""
    try:
        result = json.loads(text)
    except ValueError:
        return {}
    return result if isinstance(result, dict) else {}


def _format_quotes(question: str, tool_results: Sequence[dict[str, Any]]) -> list[str]:
    documents = _deduplicate(
        [result for part in tool_results for result in part.get("results", [])]
    )
    memories = [memory for part in tool_results for memory in part.get("memories", [])]
    quotes = [
        str(quote)
        for quote in _select_closest(
            question, [*_quote_passages(documents), *_quote_memories(memories)]
        )
    ]
    lines = quotes or list(islice(map(_format_overview, documents), _MAX_OVERVIEWS))
    return ["Here is what I found:", "\n".join(f"- {line}" for line in lines)] if lines else []


def _deduplicate(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep one result per document, the one with passages if there is any."""
    by_document: dict[int, dict[str, Any]] = {}
    for result in results:
        if not by_document.get(result["document"], {}).get("passages"):
            by_document[result["document"]] = result
    return list(by_document.values())


def _quote_passages(documents: Sequence[dict[str, Any]]) -> Iterator[Quote]:
    for result in documents:
        for passage in result.get("passages", []):
            for line in passage.splitlines():
                yield from _split_line(line, result["document"])


def _split_line(line: str, document: int) -> Iterator[Quote]:
    speaker, colon, speech = line.partition(": ")
    if not colon:
        speaker, speech = "", line
    speaker_name = "" if _UNNAMED_SPEAKER.fullmatch(speaker) else speaker
    for text in filter(None, map(str.strip, _SENTENCE_END.split(speech))):
        yield Quote(text=text, speaker=speaker_name, document=document)


def _quote_memories(memories: Sequence[dict[str, Any]]) -> Iterator[Quote]:
    for memory in memories:
        yield Quote(text=memory["text"], document=memory.get("document"))


def _select_closest(question: str, quotes: Sequence[Quote]) -> list[Quote]:
    """Return the closest sentences, best first; ties keep the order of the search.

    A reply inherits the score of the question before it: "Yes, walnuts" shares no word with it.
    """
    question_terms = extract_content_terms(question)
    scores: dict[Quote, float] = {}
    inherited_score = 0.0
    for quote in quotes:
        own_score = float(
            sum(map(get_term_weight, question_terms & extract_content_terms(quote.text)))
        )
        scores[quote] = max(own_score, inherited_score, scores.get(quote, 0.0))
        inherited_score = own_score if quote.text.endswith(("?", "？")) else 0.0
    close_quotes = [quote for quote, score in scores.items() if score]
    top_quotes = sorted(close_quotes, key=lambda quote: -scores[quote])[:_MAX_QUOTES]
    return [quote for quote in top_quotes if scores[quote] * 2 >= scores[top_quotes[0]]]


def _format_overview(result: dict[str, Any]) -> str:
    title, overview = result.get("title", ""), result.get("overview", "")
    return f"{': '.join(filter(None, [title, overview]))}[{result['document']}]"
