"""Summaries without a model: titles, notes, recaps and advice, quoted from what was said or made of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shared.adapters.embedded.offline.memories import extract_memories
from shared.adapters.embedded.offline.quotes import measure_share
from shared.adapters.embedded.offline.speech import (
    Sentence,
    capitalise,
    collect_sentences,
    count_meaningful_words,
    is_meaningful,
    list_content_terms,
    select_central,
    split_sentences,
    split_words,
)
from shared.adapters.embedded.offline.titles import strip_opening

_MAX_TITLE_WORDS = 8
_MAX_LINES, _MAX_LINE_CHARS = 14, 240
_MAX_STRETCH_LINES = 4
_MAX_THEMES = 3
_MAX_LISTED = 5
"""Of each kind in a recap."""
_MAX_TOPIC_WORDS = 6
_MAX_TEMPLATE_SENTENCES = 6
_MAX_QUOTED_CHARS = 200
_SOURCE = "Quoted from your own data, because no language model is set up."


def extract_title(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote the question's first sentence with content, without its opening."""
    sentences = split_sentences(data["question"])
    informative = (text for text in sentences if any(map(is_meaningful, split_words(text))))
    title_words = next(informative, next(iter(sentences), "")).split()
    short = " ".join(title_words[:_MAX_TITLE_WORDS]).rstrip(".,;:!")
    ellipsis = "…" if len(title_words) > _MAX_TITLE_WORDS else ""
    return {"title": f"{capitalise(strip_opening(short) or short)}{ellipsis}"}


def extract_summary(data: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the few lines, old and new, whose words occur most in the others, in their order."""
    lines = list(dict.fromkeys([*data["summary"].splitlines(), *_list_lines(data)]))
    word_counts = count_meaningful_words(line.partition(": ")[2] for line in lines)
    return {"summary": "\n".join(select_central(lines, word_counts, _MAX_LINES))}


def extract_stretch(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote what the owner said that the rest is most about, and the facts that they stated."""
    said = [message for message in data["messages"] if message["sender"] == "owner"]
    sentences = [
        Sentence(text=text, segment=n, is_user=True, speaker="User")
        for n, message in enumerate(said)
        for text in split_sentences(message["text"])
    ]
    lines = [sentence.text for sentence in sentences]
    word_counts = count_meaningful_words(lines)
    return {
        "summary": " ".join(select_central(lines, word_counts, _MAX_STRETCH_LINES)),
        "themes": [word for word, _ in word_counts.most_common(_MAX_THEMES)],
        "statements": [
            {
                "text": fact["content"],
                "use": "fact",
                "message": said[fact["segment"]]["number"],
                "quote": fact["evidence"],
                "kind": fact["kind"],
                "timing": "now",
            }
            for fact in extract_memories(sentences)
        ],
    }


def apply_template(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote what the conversation turns on as a list, which no template can shape; of a very long one, its overview."""
    texts = list(dict.fromkeys(sentence.text for sentence in collect_sentences(data)))
    quotes = select_central(texts, count_meaningful_words(texts), _MAX_TEMPLATE_SENTENCES)
    lines = [f"- {text}" for text in quotes or split_sentences(data["overview"])]
    return {"summary": "\n".join(lines)}


def extract_recap(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote the day's conversations, the longest ones first; list its tasks, and what was decided, learned and counted."""
    conversations = sorted(data["conversations"], key=lambda one: -one["minutes"])
    titled = [one for one in conversations if one["title"]]
    openings = [_quote(one["overview"], 1) for one in conversations]
    return {
        "headline": titled[0]["title"] if titled else "",
        "overview": " ".join(filter(None, openings[:_MAX_LISTED])),
        "highlights": [
            {
                "topic": " ".join(one["title"].split()[:_MAX_TOPIC_WORDS]),
                "summary": _quote(one["overview"], 2),
                "conversations": [one["conversation"]],
            }
            for one in titled[:_MAX_LISTED]
        ],
        "tasks": [{"task": one["task"], "priority": "medium"} for one in data["tasks"]],
        "decisions": _select(data["lines"], "decision"),
        "numbers": _select(data["lines"], "number"),
        "insights": [{"text": text} for text in data["memories"][:_MAX_LISTED]],
    }


def advise(data: Mapping[str, Any]) -> dict[str, Any]:
    """Say how far the goal is, and quote what shares most words with its title."""
    goal = data["goal"]
    state = f"“{goal['title']}” is at {goal['current']:g} of {goal['target']:g}."
    terms = list_content_terms(goal["title"])
    quotes = {text: place for text, place in _list_places(data) if measure_share(terms, text)}
    if not quotes:
        return {
            "advice": f"{state} Nothing you stored lately mentions it: plan one step for this week."
        }
    closest = max(quotes, key=lambda text: measure_share(terms, text))
    short = closest if len(closest) <= _MAX_QUOTED_CHARS else f"{closest[:_MAX_QUOTED_CHARS]}…"
    return {"advice": f"{state} Start from this: “{short}” ({quotes[closest]}). {_SOURCE}"}


def _list_places(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for conversation in data["conversations"]:
        for text in split_sentences(f"{conversation['title']}\n{conversation['overview']}"):
            yield text, f"your conversation of {conversation['date']}"
    for text in data["memories"]:
        yield text, "your memories"
    for text in data["open_tasks"]:
        yield text, "your task"


def _list_lines(data: Mapping[str, Any]) -> Iterator[str]:
    for message in data["messages"]:
        for text in split_sentences(message["text"]):
            yield f"{message['sender'].capitalize()}: {text[:_MAX_LINE_CHARS]}"


def _select(lines: Sequence[Mapping[str, Any]], kind: str) -> list[int]:
    return [line["line"] for line in lines if line["kind"] == kind][:_MAX_LISTED]


def _quote(text: str, sentences: int) -> str:
    return " ".join(split_sentences(text)[:sentences])
