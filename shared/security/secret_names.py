"""Names of secrets and papers in many languages (secret_names.json), and what links them to their values."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final
from unicodedata import normalize

from shared.security.plain_form import WORD_END, PlainForm

_NAMES: Final[Mapping[str, Any]] = json.loads(
    Path(__file__).with_name("secret_names.json").read_text("utf-8")
)
_MIN_COMPOUND: Final = 6
"""Names as long as this may end a longer word: Wlanpasswort, DB_PASSWORD."""
_GROUPS: Final = ("passwords", "codes", "keys", "opaque", "logins", "papers", "recovery_phrases")

PresentNames = Mapping[str, Sequence[str]]
"""The names of each group that stand somewhere in a text."""


def list_present(lowered: str) -> PresentNames:
    """Return the names that stand somewhere in a text; the others are passed over by their first two letters."""
    openings = {*lowered, *map("".join, pairwise(lowered))}
    return {
        group: [
            name
            for opening in openings & by_opening.keys()
            for name in by_opening[opening]
            if name in lowered
        ]
        for group, by_opening in _load_names().items()
    }


def find_names(plain: PlainForm, lowered: str, names: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield where names stand as words, or as the end of one."""
    for name in names:
        start = lowered.find(name)
        while start >= 0:
            end = start + len(name)
            if _is_word(plain, start, end):
                yield start, end
            start = lowered.find(name, end)


def _is_word(plain: PlainForm, start: int, end: int) -> bool:
    words = plain.words
    if words[start] == WORD_END:
        return True
    is_compound = end - start >= _MIN_COMPOUND or not start or not _is_letter(words[start - 1])
    return is_compound and (end == len(words) or not _is_letter(words[end]))


def _is_letter(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def match_link(lowered: str, end: int) -> re.Match[str] | None:
    """Match what stands between a name that ends there and its value.

    Its groups: `link`, if anything links both, `more`, the words before that link, and `is_written`, if it is a sign.
    """
    return _compile_between().match(lowered, end)


@cache
def _compile_between() -> re.Pattern[str]:
    """Compile what stands between a name and its value: `for the guests is`, `(wifi)`, a colon, a quote."""
    link = build_link_form()
    of = rf"[ ](?:{'|'.join(_NAMES['of'])})(?:[ ][^\s:=]{{1,30}}){{1,3}}?[ ]{{0,3}}"
    own = rf"[ ](?:{'|'.join(_NAMES['own'])})(?!\w)"
    aside = r"[ ]?\([^\n()]{1,30}\)"
    more = rf"(?P<more>(?:[ ][^\W\d_][^\s\d:=.,;!?\"]{{0,22}}){{1,4}}?)(?=[ ]{{0,3}}(?P<is_written>[:=])|[ ]{{1,3}}{link})"
    return re.compile(
        rf"[\"'\\]{{0,3}}(?:(?:{of}|{own}|{aside}||{more})[ ]{{0,3}}(?P<link>{link})|(?:{own})?(?=[\s\"'])|(?<=[^\x00-\u02ff]))"
        r"\s{0,3}:?[ ]{0,3}[\"'\\]{0,3}"
    )


def build_link_form() -> str:
    """Build the pattern of what links a name to its value: `is`, `lautet`, `→`."""
    words = "|".join(re.escape(link) for link in sorted(_NAMES["links"], key=len, reverse=True))
    return rf"(?!(?<=\w)-(?!>|[^\s-]*[0-9]))(?:{words})(?=[\s\"'\\]|(?<=[^a-z]))"


def match_number_word(lowered: str, end: int) -> re.Match[str] | None:
    """Match what may stand between a paper and its number: `no.`, `号码`."""
    return _compile_number_word().match(lowered, end)


def list_links() -> Sequence[str]:
    links: Sequence[str] = _NAMES["links"]
    return links


@cache
def _compile_number_word() -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in sorted(_NAMES["numbers"], key=len, reverse=True))
    return re.compile(rf"[ ]?(?:{words})(?:(?<=[^a-z])|(?![a-z]))")


@cache
def _load_names() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the names of each group in small letters, composed and decomposed, by their first two letters."""
    return {group: _group_by_opening(group) for group in _GROUPS}


def _group_by_opening(group: str) -> Mapping[str, Sequence[str]]:
    by_opening: dict[str, list[str]] = {}
    names = chain.from_iterable(_NAMES[group].values())
    for form in dict.fromkeys(normalize(form, name) for name in names for form in ("NFC", "NFD")):
        by_opening.setdefault(form[:2], []).append(form)
    return by_opening
