"""Recaps without a model: a day quoted from what was made of its conversations."""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.adapters.embedded.offline.speech import split_sentences

_MAX_HIGHLIGHTS = 5
_MAX_OVERVIEW_SENTENCES = 5
_MAX_INSIGHTS = 5
_MAX_LINES = 5
_MAX_TOPIC_WORDS = 6


def extract_recap(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote the day's conversations, the longest ones first; list its tasks, and what was decided, learned and counted."""
    conversations = sorted(data["conversations"], key=lambda one: -one["minutes"])
    titled = [one for one in conversations if one["title"]]
    openings = [_quote(one["overview"], 1) for one in conversations]
    return {
        "headline": titled[0]["title"] if titled else "",
        "overview": " ".join(filter(None, openings[:_MAX_OVERVIEW_SENTENCES])),
        "highlights": [
            {
                "topic": " ".join(one["title"].split()[:_MAX_TOPIC_WORDS]),
                "summary": _quote(one["overview"], 2),
                "conversations": [one["conversation"]],
            }
            for one in titled[:_MAX_HIGHLIGHTS]
        ],
        "tasks": [{"task": one["task"], "priority": "medium"} for one in data["tasks"]],
        "decisions": _select(data["lines"], "decision"),
        "numbers": _select(data["lines"], "number"),
        "insights": [{"text": text} for text in data["memories"][:_MAX_INSIGHTS]],
    }


def _select(lines: Sequence[Mapping[str, Any]], kind: str) -> list[int]:
    return [line["line"] for line in lines if line["kind"] == kind][:_MAX_LINES]


def _quote(text: str, sentences: int) -> str:
    return " ".join(split_sentences(text)[:sentences])
