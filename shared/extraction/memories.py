"""Lasting facts that the owner said in the first person, each with the words it rests on."""

import re
from collections.abc import Mapping
from typing import Any

from shared.extraction.speech import Sentence, sentences

_FACT = re.compile(
    r"\b(?:i(?:'|’)m|i am) (?:an? |allergic|from |married|vegan|vegetarian|afraid of|left-handed|intolerant)"
    r"|\bi (?:live|work|grew up|was born|play|speak|prefer|love|hate|like|never eat|don(?:'|’)t eat"
    r"|can(?:'|’)t eat|don(?:'|’)t drink|studied|own|collect|believe in)\b"
    r"|\bi have (?:a |an |\d+ |one |two |three |four )"
    r"|\bmy (?:\w+ )?(?:wife|husband|partner|daughter|son|sister|brother|mother|father|mom|dad|dog|cat|"
    r"birthday|name|favou?rite \w+|doctor|boss|job|hobby|blood type)(?:(?:'|’)s \w+)? (?:is|was|are)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|now|right now|this (?:week|morning|evening|afternoon)|"
    r"maybe|probably|i (?:would|'d) like|like to (?:see|go|have)|idea|question|meeting|headache|bit)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:(?:well|yes|yeah|so|and|but|oh|actually|you know|by the way)[, ]+)+", re.IGNORECASE
)
_WORDS = 15
_VOICE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), written)
    for pattern, written in (
        (r"\bi(?:'|’)m\b|\bi am\b", "User is"),
        (r"\bi was\b", "User was"),
        (r"\bi have\b", "User has"),
        (r"\bi don(?:'|’)t\b", "User doesn't"),
        (r"\bi can(?:'|’)t\b", "User can't"),
        (r"\bi never eat\b", "User never eats"),
        (r"\bi grew\b", "User grew"),
        (r"\bi studied\b", "User studied"),
        (r"\bi (live|work|play|speak|prefer|love|hate|like|own|collect|believe)\b", r"User \1s"),
        (r"^my\b", "User's"),
        (r"\bmy\b", "their"),
        (r"\bme\b", "them"),
    )
)


def memories(data: Mapping[str, Any]) -> dict[str, Any]:
    """Without a mark who the owner is, nobody's words are facts about them."""
    facts = [s for s in sentences(data) if s.is_user and _is_fact(s.text)]
    return {"memories": [_memory(sentence) for sentence in facts]}


def _is_fact(text: str) -> bool:
    return (
        _FACT.search(text) is not None
        and _PASSING.search(text) is None
        and not text.endswith("?")
        and len(text.split()) <= _WORDS
    )


def _memory(sentence: Sentence) -> dict[str, Any]:
    return {
        "content": _third_person(sentence.text),
        "category": "system",
        "segment": sentence.segment,
        "evidence": sentence.text,
    }


def _third_person(text: str) -> str:
    """Say of the owner what the owner said of themselves."""
    said = _OPENING.sub("", text)
    for spoken, written in _VOICE:
        said = spoken.sub(written, said)
    return said
