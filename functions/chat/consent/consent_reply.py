"""Consent reply: a typed yes, always or no, recognised in many languages.

The phrases stand in replies.json, one line a language; the line `any` belongs to every language.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from typing import Literal

from shared.domain.value import value
from shared.domain.words import normalise

Reply = Literal["yes", "always", "no"]
Phrase = tuple[str, ...]

MAX_CHARS = 200
_TEXT = Path(__file__).with_name("replies.json").read_text(encoding="utf-8")
_CAUTIOUS_FIRST: tuple[Reply, ...] = ("no", "yes", "always")
_ANY = "any"
_MIN_BARE_LETTERS = 3
"""Shorter phrases without their accents are other words: co is Vietnamese yes and Polish what."""

_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670]")
"""Marks that writers of Latin, Greek, Cyrillic, Hebrew and Arabic leave out. Those of other scripts
stand for vowels and tones: without them a word is another one."""
_LETTERS_WITHOUT_ACCENT = str.maketrans("ıđøłيىك", "idolییک")
_NOT_READ = frozenset(
    "\u0640\u1160\u115f\u2800\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
)
"""Blank and stretching letters, and the variants and skin tones of an emoji."""
_EMPHASIS = frozenset("~^`")
_QUESTION_MARKS = frozenset("?\u061f\u055e")


@value
class _Phrases:
    """`replies` are those of all languages, the most cautious one where they differ."""

    by_language: Sequence[AbstractSet[Phrase]]
    replies: Mapping[Phrase, Reply]
    max_words: int


def parse_reply(text: str) -> Reply | None:
    """Return the answer of a message that is nothing else, in any one language; None for others.

    Phrases that agree are one answer, such as "yes, please do"; "yes, always" is always. What is yes
    in one language and no in another counts as no. A question is no answer.
    """
    words = _split_words(text) if len(text) <= MAX_CHARS else ()
    if not words:
        return None
    phrases = _load_phrases()
    spellings = (words, _strip_accents(words))
    return next(filter(None, (_read(spelling, phrases) for spelling in spellings)), None)


def parse_reply_to(text: str, typed_words: str) -> Reply | None:
    """Return the reply of a message to a question; where words have to be typed, they alone mean yes."""
    if not typed_words:
        return parse_reply(text)
    if normalise(text) == normalise(typed_words):
        return "yes"
    return "no" if parse_reply(text) == "no" else None


def _read(words: Phrase, phrases: _Phrases) -> Reply | None:
    """Return the most cautious reading of the words in any language that knows them all."""
    replies = {_read_in_language(words, known, phrases) for known in phrases.by_language}
    return next((reply for reply in _CAUTIOUS_FIRST if reply in replies), None)


def _read_in_language(
    words: Phrase, language: AbstractSet[Phrase], phrases: _Phrases
) -> Reply | None:
    """Return what all the words say in a language; None if one is unknown, or if they disagree."""
    replies = set()
    while words:
        phrase = _match(words[: phrases.max_words], language)
        if phrase is None:
            return None
        replies.add(phrases.replies[phrase])
        words = words[len(phrase) :]
    if "no" in replies:
        return "no" if len(replies) == 1 else None
    return "always" if "always" in replies else "yes"


def _match(words: Phrase, language: AbstractSet[Phrase]) -> Phrase | None:
    """Return the longest phrase of the language that the words begin with."""
    beginnings = (words[:length] for length in range(len(words), 0, -1))
    return next((phrase for phrase in beginnings if phrase in language), None)


def _split_words(text: str) -> Phrase:
    """Return the words without case, width and punctuation; a symbol is a word of its own."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return tuple("".join(map(_space_out, folded)).split())


def _space_out(character: str) -> str:
    category = unicodedata.category(character)
    if character in _NOT_READ or category == "Cf":
        return ""
    if character in _QUESTION_MARKS:
        return f" {character} "
    if character in _EMPHASIS or category[0] in "PZC":
        return " "
    return character if category[0] in "LMN" else f" {character} "


def _strip_accents(phrase: Phrase) -> Phrase:
    return tuple(map(_strip_word, phrase))


def _strip_word(word: str) -> str:
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare).translate(_LETTERS_WITHOUT_ACCENT)


@cache
def _load_phrases() -> _Phrases:
    lines: dict[str, dict[Reply, str]] = json.loads(_TEXT)
    languages = {name: list(_list_phrases(line)) for name, line in lines.items()}
    everywhere = {phrase for phrase, _ in languages[_ANY]}
    spelled = [entry for entries in languages.values() for entry in entries]
    spelled.sort(key=lambda entry: _CAUTIOUS_FIRST.index(entry[1]), reverse=True)
    return _Phrases(
        by_language=[
            {phrase for phrase, _ in entries} | everywhere for entries in languages.values()
        ],
        replies=dict(spelled),
        max_words=max(len(phrase) for phrase, _ in spelled),
    )


def _list_phrases(line: Mapping[Reply, str]) -> Iterator[tuple[Phrase, Reply]]:
    for reply, listed in line.items():
        for text in filter(None, listed.split(", ")):
            phrase = tuple(_split_words(text))
            yield phrase, reply
            bare = _strip_accents(phrase)
            if sum(map(len, bare)) >= _MIN_BARE_LETTERS:
                yield bare, reply
