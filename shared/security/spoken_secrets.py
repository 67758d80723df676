"""Secrets that people tell: the next word with a digit or a sign behind a name such as "my password is".

So are the words of a wallet beside their name, and what stands behind a login and a slash. The names in many
languages are data (secret_names.json).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final, Literal, get_args
from unicodedata import normalize

from shared.security.plain_form import WORD_END, PlainForm
from shared.security.spelled_numbers import match_spelled_code
from shared.security.word_runs import find_word_runs

_Group = Literal["passwords", "codes", "keys"]
"""Digits alone are a code; a password if a word such as `is` leads to them; never a key."""
_NAMES: Final[Mapping[str, Any]] = json.loads(
    Path(__file__).with_name("secret_names.json").read_text("utf-8")
)
_MIN_COMPOUND: Final = 6
"""Names as long as this may end a longer word: Wlanpasswort, DB_PASSWORD."""
_MIN_CHARS: Final = 4
_MIN_CODE_CHARS: Final = 3
_MIN_BARE_CHARS: Final = 6
_VALUE: Final = re.compile(rf"[^\s\"'<>,;{WORD_END}]{{3,200}}")
_STRONG_SIGN: Final = re.compile(r"[!@#$%^&*+=~|\\?][^\W_]")
"""Inside a word: at its end it ends a sentence."""
_SIGN: Final = re.compile(r"[!@#$%^&*+=~?]")
_QUOTED: Final = re.compile(r"([`“„«‘])([^`“”„«»‘’\n]{3,60})[`”“»’]")
"""A password of any words, in quotation marks that none of it has."""
_MORE_CODES: Final = re.compile(r"[ ]{0,2}[,;][ ]{0,2}([\w-]{4,40})(?![\w-])")
_MORE_DIGITS: Final = re.compile(r"(?:[ ][0-9]{2,4}){1,3}(?!\w)")
_LOGIN_PAIR: Final = re.compile(
    r"(?:[ ]{0,3}[:=-]|[ ])[ ]{0,3}[^\s/|:,;]{1,60}(?:[ ]{1,3}[/|]{1,2}[ ]{0,3}|[/|]{1,2}[ ]{1,3})([^\s,;]{4,200})"
)
"""Name and password, as in `login: anna / hunter2`; without a space it may be a path."""
_BARE_PAIR: Final = re.compile(
    r"^(?:[^\n:/|]{1,30}:[ ]|[ ]*)[^\s/|:,;]{2,60}[ ]{1,3}[/|][ ]{1,3}([^\s/|,;]{6,60})[ ]*$",
    re.MULTILINE,
)
"""The same alone on its line, without the word `login`."""
_BESIDE_EMAIL: Final = re.compile(
    r"@[\w.-]{4,80}(?<=[^\W\d_])[ ]{0,3}[:/|][ ]{0,3}(?=[^\W\d_]{0,40}[0-9])([^\s/|,;]{6,60})"
)
_USER_AND_PASS: Final = re.compile(
    r"[UuLl](?<!\w.)(?i:(?<=u)(?:sr|ser)?|(?<=l)ogin)[:= ][ ]?[^\s,;]{1,60}[,;/|]?[ ]{1,3}(?i:p|pw|pass)[:= ][ ]?([^\s,;]{4,60})"
)
_ALONE: Final = re.compile(r"[ ]{0,3}[:=][ ]{0,3}([^\W\d_]{6,60})[ ]{0,3}(?:$)", re.MULTILINE)
"""A password of letters alone on its line."""
_NEAR_CHARS: Final = 80
"""So far from its name may the first or the last word of a recovery phrase stand."""
_CODE: Final = re.compile(r"[()\[\]{}`]|://|\A[$%]\w+\Z")
_PAPER: Final = re.compile(
    r"[0-9]{2,4}(?:[ ./-][0-9]{2,7}){1,3}(?![\w-])|(?=[A-Za-z0-9]{7,20}(?![\w-]))(?:[A-Za-z]*[0-9]){4}[A-Za-z0-9]*"
)
_DATE: Final = re.compile(r"\d{4}[./ -]\d\d[./ -]\d\d|\d\d?[./ -]\d\d?[./ -]\d{2,4}")


def find_spoken_secrets(plain: PlainForm) -> Iterator[tuple[int, int]]:
    """Yield the spans of values behind the name of a secret."""
    lowered = plain.text.lower()
    present = _list_present(lowered)
    for group in get_args(_Group):
        for place in _find_names(plain, lowered, present[group]):
            yield from _find_values(plain, lowered, place, group)
    for _, end in _find_names(plain, lowered, present["logins"]):
        pair = _LOGIN_PAIR.match(plain.words, end)
        secret = pair[1].rstrip(".") if pair else ""
        if pair and _is_secret(secret, min_chars=_MIN_CHARS, is_linked=True, digits_count=False):
            yield pair.start(1), pair.start(1) + len(secret)
    yield from _find_papers(plain, lowered, present["papers"])
    yield from _find_bare_pairs(plain.words)
    yield from _find_recovery_phrases(plain.text, lowered, present["recovery_phrases"])


def _list_present(lowered: str) -> Mapping[str, Sequence[str]]:
    """Return the names that stand somewhere in a text; the others are passed over by their first letters."""
    openings = {*pairwise(lowered)}
    return {
        group: [
            name
            for opening in openings & by_opening.keys()
            for name in by_opening[opening]
            if name in lowered
        ]
        for group, by_opening in _load_names().items()
    }


def _find_bare_pairs(text: str) -> Iterator[tuple[int, int]]:
    """Yield passwords beside a name or an address that no word announces: letters, a digit and a sign."""
    for form in (_BARE_PAIR, _USER_AND_PASS, _BESIDE_EMAIL):
        for pair in form.finditer(text):
            secret = pair[1].rstrip(".")
            is_mixed = any(map(str.isdigit, secret)) and any(map(str.isalpha, secret))
            if (
                is_mixed
                and (form is not _BARE_PAIR or _SIGN.search(secret))
                and not _CODE.search(secret)
            ):
                yield pair.start(1), pair.start(1) + len(secret)


def _find_names(plain: PlainForm, lowered: str, names: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield where names stand as words, or as the end of one."""
    for name in names:
        start = lowered.find(name)
        while start >= 0:
            end = start + len(name)
            if _is_word(plain, start, end):
                yield start, end
            start = lowered.find(name, end)


def _find_recovery_phrases(
    text: str, lowered: str, names: Iterable[str]
) -> Iterator[tuple[int, int]]:
    """Yield runs of as many words as open a wallet, behind the name of such a run or beside it."""
    places = sorted(
        (start, start + len(name)) for name in names for start in _find_all(lowered, name)
    )
    if places:
        yield from find_word_runs(text, places, within=_NEAR_CHARS, links=_NAMES["links"])


def _find_all(lowered: str, name: str) -> Iterator[int]:
    start = lowered.find(name)
    while start >= 0:
        yield start
        start = lowered.find(name, start + len(name))


def _find_values(
    plain: PlainForm, lowered: str, name: tuple[int, int], group: _Group
) -> Iterator[tuple[int, int]]:
    """Yield the value behind a name, and further codes of a list."""
    alone = _ALONE.match(plain.words, name[1]) if group == "passwords" else None
    span = alone.span(1) if alone else _find_value(plain, lowered, name, group)
    span = _find_spelled_code(lowered, name, group) or span
    if span is None:
        return
    digits = _MORE_DIGITS.match(plain.words, span[1]) if lowered[slice(*span)].isdigit() else None
    yield span[0], digits.end() if digits else span[1]
    more = _MORE_CODES.match(plain.words, span[1])
    while more and _is_secret(more[1], min_chars=_MIN_CHARS, is_linked=False, digits_count=True):
        yield more.span(1)
        more = _MORE_CODES.match(plain.words, more.end())


def _is_word(plain: PlainForm, start: int, end: int) -> bool:
    words = plain.words
    if words[start] == WORD_END:
        return True
    is_compound = end - start >= _MIN_COMPOUND or not start or not _is_letter(words[start - 1])
    return is_compound and (end == len(words) or not _is_letter(words[end]))


def _is_letter(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def _find_value(
    plain: PlainForm, lowered: str, name: tuple[int, int], group: _Group
) -> tuple[int, int] | None:
    between = _compile_between().match(lowered, name[1])
    if between and between["link"] and (quoted := _QUOTED.match(plain.words, between.end())):
        return quoted.span(2)
    value = _VALUE.match(plain.words, between.end()) if between else None
    if between is None or value is None:
        return None
    secret = value[0].rstrip(".:") if plain.text[value.start() - 1] not in "\"'" else value[0]
    is_linked = bool(between["link"])
    is_beside = is_linked and not between["more"]
    is_number = group == "codes" or plain.text[slice(*name)].isupper()
    digits_count = group != "keys" and (is_beside or is_number)
    min_chars = _MIN_CODE_CHARS if group == "codes" else _MIN_CHARS
    if _is_secret(secret, min_chars=min_chars, is_linked=is_linked, digits_count=digits_count):
        return value.start(), value.start() + len(secret)
    return None


def _find_spelled_code(
    lowered: str, name: tuple[int, int], group: _Group
) -> tuple[int, int] | None:
    """Return the span of a code that is told in words: `my pin is four four one seven`."""
    between = _compile_between().match(lowered, name[1]) if group != "keys" else None
    if between is None or not (between["link"] or group == "codes"):
        return None
    end = match_spelled_code(lowered, between.end())
    return (between.end(), end) if end else None


def _find_papers(plain: PlainForm, lowered: str, names: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield the numbers of passports, licences and the like behind their names; no dates."""
    for _, end in _find_names(plain, lowered, names):
        number = _compile_number_word().match(lowered, end)
        between = _compile_between().match(lowered, number.end() if number else end)
        paper = _PAPER.match(plain.words, between.end()) if between else None
        if paper and not _DATE.fullmatch(paper[0]):
            yield paper.span()


def _is_secret(secret: str, *, min_chars: int, is_linked: bool, digits_count: bool) -> bool:
    if len(secret) < min_chars or _CODE.search(secret):
        return False
    has_digit = any(map(str.isdigit, secret))
    if not any(map(str.isalpha, secret)):
        return has_digit and digits_count
    if is_linked:
        return has_digit or bool(_STRONG_SIGN.search(secret))
    return has_digit and len(secret) >= _MIN_BARE_CHARS


@cache
def _load_names() -> Mapping[str, Mapping[tuple[str, str], Sequence[str]]]:
    """Return the names of each group in small letters, composed and decomposed, by their first two letters."""
    groups = (*get_args(_Group), "logins", "papers", "recovery_phrases")
    return {group: _group_by_opening(group) for group in groups}


def _group_by_opening(group: str) -> Mapping[tuple[str, str], Sequence[str]]:
    by_opening: dict[tuple[str, str], list[str]] = {}
    names = chain.from_iterable(_NAMES[group].values())
    for form in {normalize(form, name) for name in names for form in ("NFC", "NFD")}:
        by_opening.setdefault((form[0], form[1]), []).append(form)
    return by_opening


@cache
def _compile_number_word() -> re.Pattern[str]:
    """Compile what may stand between a paper and its number: `no.`, `号码`."""
    words = "|".join(re.escape(word) for word in sorted(_NAMES["numbers"], key=len, reverse=True))
    return re.compile(rf"[ ]?(?:{words})(?:(?<=[^a-z])|(?![a-z]))")


@cache
def _compile_between() -> re.Pattern[str]:
    """Compile what stands between a name and its value: `for the guests is`, `(wifi)`, a colon, a quote."""
    words = "|".join(re.escape(link) for link in sorted(_NAMES["links"], key=len, reverse=True))
    link = rf"(?:{words})(?=[\s\"'\\]|(?<=[^a-z]))"
    of = rf"[ ](?:{'|'.join(_NAMES['of'])})(?:[ ][^\s:=]{{1,30}}){{1,3}}?[ ]{{0,3}}"
    own = rf"[ ](?:{'|'.join(_NAMES['own'])})(?!\w)"
    aside = r"[ ]?\([^\n()]{1,30}\)"
    more = r"(?P<more>(?:[ ][^\W\d_]{1,20}){1,4})(?=[ ]?[:=])"
    return re.compile(
        rf"[\"'\\]{{0,3}}(?:(?:{of}|{own}|{aside}|{more})?[ ]{{0,3}}(?P<link>{link})|(?:{own})?(?=[\s\"'])|(?<=[^\x00-\u02ff]))"
        r"\s{0,3}:?[ ]{0,3}[\"'\\]{0,3}"
    )
