"""Names of secrets and papers in many languages (secret_names.json), and what links them to their values."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final
from unicodedata import normalize

from shared.security.plain_form import WORD_END, PlainForm

_NAMES: Final[Mapping[str, Any]] = json.loads(
    Path(__file__).with_name("secret_names.json").read_text("utf-8")
)
_MIN_COMPOUND: Final = 6
"""Names as long as this may end a longer word: Wlanpasswort, DB_PASSWORD."""
_MARK: Final = r"(?:[0-9]{1,2}[.)]|[*•-])[ ]{1,3}"
LIST_MARK: Final = rf"(?:(?<=\n){_MARK})?"
_ITEM: Final = re.compile(rf"[ ]{{0,8}}{_MARK}")

PresentNames = Mapping[str, Sequence[str]]
"""The names of each group that stand somewhere in a text."""


def list_present(lowered: str) -> PresentNames:
    """Return the names that stand somewhere in a text; those with three letters in a row that it lacks are passed over."""
    triples = _list_triples("\n".join({*lowered.split()}))
    return {
        group: [name for name, needed in names if needed <= triples and name in lowered]
        for group, names in _load_names().items()
    }


def find_names(plain: PlainForm, lowered: str, names: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield where names stand as words, or as the end of one."""
    for name in names:
        for start in find_all(lowered, name):
            end = start + len(name)
            if _is_word(plain, start, end):
                yield start, end


def find_all(lowered: str, name: str) -> Iterator[int]:
    """Yield where a name stands, be it a part of a word."""
    start = lowered.find(name)
    while start >= 0:
        yield start
        start = lowered.find(name, start + len(name))


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
    A name and a value that are both items of a list say nothing of each other.
    """
    between = _compile_between().match(lowered, end)
    if between and between["mark"] and _ITEM.match(lowered, lowered.rfind("\n", 0, end) + 1):
        return None
    return between


@cache
def _compile_between() -> re.Pattern[str]:
    """Compile what stands between a name and its value: `for the guests is`, `(wifi)`, a colon, a quote."""
    link = build_link_form()
    of = rf"[ ](?:{'|'.join(_NAMES['of'])})(?:[ ][^\s:=]{{1,30}}){{1,3}}?[ ]{{0,3}}"
    own = rf"[ ](?:{'|'.join(_NAMES['own'])})(?!\w)"
    aside = r"[ ]?\([^\n()]{1,30}\)|,[ ][^\n,.!?]{1,40},"
    more = rf"(?P<more>(?:[ ][^\W\d_][^\s\d:=.,;!?\"]{{0,22}}){{1,4}}?)(?=[ ]{{0,3}}(?P<is_written>[:=])|[ ]{{1,3}}{link})"
    return re.compile(
        rf"[\"'\\]{{0,3}}(?:(?:(?:{of}|{own}|)(?:{aside})?|{more})[ ]{{0,3}}(?P<link>{link})|(?:{own})?(?=[\s\"'])|(?<=[^\x00-\u02ff]))"
        rf"\s{{0,3}}:?[ ]{{0,3}}(?P<mark>{LIST_MARK})[\"'\\]{{0,3}}"
    )


def build_link_form() -> str:
    """Build the pattern of what links a name to its value: `is`, `lautet`, `→`."""
    words = "|".join(re.escape(link) for link in sorted(_NAMES["links"], key=len, reverse=True))
    return rf"(?!(?<=\w)-(?!>|[^\s-]*[0-9]))(?:{words})(?=[\s\"'\\]|(?<=[^a-z]))"


def build_owner_form() -> str:
    """Build the pattern of whose code something is: `your`, `votre`; of none that many know: `your zip`."""
    return rf"(?<!\w)(?:{'|'.join(_NAMES['owners'])})[ ](?!(?:{'|'.join(_NAMES['open_codes'])})[ ])"


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


def list_checks(name: str) -> Sequence[str]:
    """Return the modules of python-stdnum that check the numbers near a name."""
    return [module for module, names in _NAMES["checked"].items() if name in names]


@cache
def _load_names() -> Mapping[str, Sequence[tuple[str, frozenset[str]]]]:
    """Return the names of each group in small letters, composed and decomposed, with their letters, three by three."""
    return {
        group: [*_list_forms(names.values())]
        for group, names in _NAMES.items()
        if isinstance(names, Mapping)
    }


def _list_forms(lists: Iterable[Sequence[str]]) -> Iterator[tuple[str, frozenset[str]]]:
    names = chain.from_iterable(lists)
    for name in dict.fromkeys(normalize(form, name) for name in names for form in ("NFC", "NFD")):
        yield name, frozenset().union(*map(_list_triples, name.split()))


def _list_triples(text: str) -> frozenset[str]:
    return frozenset(map("".join, zip(text, text[1:], text[2:], strict=False)))
