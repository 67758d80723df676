"""Secrets that people tell: the next word with a digit or a sign behind a name such as "my password is".

So are the words of a wallet beside their name, and what stands behind a login and a slash. The names in many
languages are data (secret_names.json).
"""

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final, Literal, get_args

from shared.security.passphrases import match_passphrase
from shared.security.plain_form import WORD_END, PlainForm
from shared.security.secret_names import (
    LIST_MARK,
    PresentNames,
    build_link_form,
    build_owner_form,
    find_all,
    find_names,
    list_links,
    match_link,
)
from shared.security.secrets import match_opaque_token
from shared.security.spelled_numbers import match_spelled_code
from shared.security.word_runs import find_word_runs

_Group = Literal["passwords", "codes", "keys"]
"""Digits alone are a code; a password if a word such as `is` leads to them; never a key."""
_MIN_CHARS: Final = 4
_MIN_CODE_CHARS: Final = 3
_MIN_BARE_CHARS: Final = 6
_VALUE: Final = re.compile(rf"[^\s\"'<>,;{WORD_END}]{{3,200}}")
_CAPITALS: Final = re.compile("[A-Z]{16,}")
"""A key in base32 without a digit, or a long word."""
_VOWELS: Final = re.compile("[AEIOUY]")
_RARE_LETTERS: Final = re.compile("[JKQVWXZ]")
_STRONG_SIGN: Final = re.compile(r"[!@#$%^&*+=~|\\?][^\W_]")
"""Inside a word: at its end it ends a sentence."""
_SIGN: Final = re.compile(r"[!@#$%^&*+=~?]")
_QUOTED: Final = re.compile(r"([`“„«‘「『])([^`“”„«»‘’「」『』\n]{3,60})[`”“»’」』]")
"""A password of any words, in quotation marks that none of it has."""
_IN_QUOTES: Final = re.compile(r"[ :=]{1,3}\"((?=[^\"\n]{0,59}[0-9])[^\"\n]{4,60})\"")
_DIGITS_AT_END: Final = re.compile(r"[0-9]{4,12}[.,;!)]?[ ]{0,3}$", re.MULTILINE)
_WORDS_BETWEEN: Final = re.compile(
    r"(?:[^\W\d_]{1,20}:?[ ]){1,3}(?=\S{0,40}[0-9])([^\s\"'<>,;]{6,60})"
)
_BRACKETED: Final = re.compile(r"[ :]{0,2}[\[(【]([0-9]{4,8})[\])】]")
_MORE_CODES: Final = re.compile(
    rf"(?:[ ]{{0,2}}(?P<comma>[,;])\s{{0,2}}|[ ]{{0,2}}\n[ ]{{0,3}}{LIST_MARK}|[ ]{{1,3}})"
    r"(?P<code>[0-9]{4}(?:[ ][0-9]{2,4}){1,3}|[\w-]{4,40})(?![\w-])"
)
_CODE_SIGN: Final = re.compile(r"[^\W_]")
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
_ASSIGNMENT: Final = re.compile(r"[^\W\d]\w*=.")
_NEXT_LINE: Final = re.compile(
    r"[ ]{0,2}(?P<colon>:?)[ \t]{0,3}\r?\n[ \t\r\n]{0,8}(?=[^\s\d]{0,60}[0-9])(?=[^\sA-Za-z]{0,60}[A-Za-z])"
    r"(?P<value>[\w.+/!@#$%^&*~?-]{8,500}+={0,2})[ \t]{0,3}\r?$",
    re.MULTILINE,
)
"""A key alone on its line, below the line of its name."""
_CODE: Final = re.compile(r"[()\[\]{}`]|://|\A[$%]\w+\Z")


def find_spoken_secrets(
    plain: PlainForm, lowered: str, present: PresentNames
) -> Iterator[tuple[int, int]]:
    """Yield the spans of values behind the name of a secret.

    `lowered` is the text in small letters, `present` the names that stand in it.
    """
    places = sorted(
        (place, group)
        for group in get_args(_Group)
        for place in find_names(plain, lowered, present[group])
    )
    for place, group in places:
        yield from _find_values(plain, lowered, place, group)
    for successor in find_names(plain, lowered, present["successors"]) if places else ():
        yield from _find_new_value(plain, lowered, successor, places)
    yield from _find_sent_codes(plain, lowered, present)
    for start, end in find_names(plain, lowered, present["opaque"]):
        yield from _find_token(plain.words, lowered, end)
        yield from _find_on_next_line(plain.words, start, end)
    for _, end in find_names(plain, lowered, present["logins"]):
        pair = _LOGIN_PAIR.match(plain.words, end)
        secret = pair[1].rstrip(".") if pair else ""
        if pair and _is_secret(secret, min_chars=_MIN_CHARS, is_linked=True, digits_count=False):
            yield pair.start(1), pair.start(1) + len(secret)
    yield from _find_bare_pairs(plain.words)
    yield from _find_recovery_phrases(plain.text, lowered, present["recovery_phrases"])


def _find_sent_codes(
    plain: PlainForm, lowered: str, present: PresentNames
) -> Iterator[tuple[int, int]]:
    """Yield codes as messages write them: in brackets, before their name, and behind `your … code is`."""
    for start, end in find_names(plain, lowered, present["codes"]):
        code = _BRACKETED.match(plain.words, end) or _compile_code_before().search(
            lowered, max(start - _NEAR_CHARS, 0), start
        )
        if code:
            yield code.span(1)
    for start, end in find_names(plain, lowered, present["sent_codes"]):
        owner = _compile_owner().search(lowered, max(start - _NEAR_CHARS, 0), start)
        code = _compile_sent_code().match(lowered, end) if owner else None
        if code:
            yield code.span(1)


def _find_token(words: str, lowered: str, end: int) -> Iterator[tuple[int, int]]:
    """Yield a token that nobody would say, directly behind what it is called: the words alone are said of much else."""
    between = match_link(lowered, end)
    token = match_opaque_token(words, between.end() if between else end)
    if token:
        yield token


def _find_on_next_line(words: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a key below its name, which ends its line with a colon or is all of it."""
    below = _NEXT_LINE.match(words, end)
    if below and (below["colon"] or not words[words.rfind("\n", 0, start) + 1 : start].strip()):
        yield below.span("value")


def _find_new_value(
    plain: PlainForm,
    lowered: str,
    successor: tuple[int, int],
    places: Sequence[tuple[tuple[int, int], _Group]],
) -> Iterator[tuple[int, int]]:
    """Yield what stands behind words such as `the new one`, soon behind the name of a secret; no digits that count something."""
    at = bisect(places, successor[0], key=lambda place: place[0][1])
    if not at or successor[0] - places[at - 1][0][1] > _NEAR_CHARS:
        return
    for start, end in _find_values(plain, lowered, successor, places[at - 1][1]):
        if not lowered[start:end].isdigit() or _DIGITS_AT_END.match(plain.words, start):
            yield start, end


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


def _find_recovery_phrases(
    text: str, lowered: str, names: Iterable[str]
) -> Iterator[tuple[int, int]]:
    """Yield runs of as many words as open a wallet, behind the name of such a run or beside it."""
    places = sorted(
        (start, start + len(name)) for name in names for start in find_all(lowered, name)
    )
    if places:
        yield from find_word_runs(text, places, within=_NEAR_CHARS, links=list_links())


def _find_values(
    plain: PlainForm, lowered: str, name: tuple[int, int], group: _Group
) -> Iterator[tuple[int, int]]:
    """Yield the value behind a name, and further codes of a list."""
    alone = _match_whole(plain.words, name[1]) if group == "passwords" else None
    between = match_link(lowered, name[1])
    span = alone.span(1) if alone else _find_value(plain, name, between, group)
    span = _find_spelled_code(lowered, between, group) or span
    if group == "passwords" and between and between["link"]:
        span = match_passphrase(lowered, between.end()) or span
    if span is None:
        return
    digits = _MORE_DIGITS.match(plain.words, span[1]) if lowered[slice(*span)].isdigit() else None
    start, end = span[0], digits.end() if digits else span[1]
    yield start, end
    yield from _find_more_codes(plain.words, start, end)


def _find_more_codes(words: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the codes of a list behind its first one; where no comma is between them, they are written alike."""
    shape = _CODE_SIGN.sub("0", words[start:end])
    more = _MORE_CODES.match(words, end)
    while more and _is_secret(
        more["code"], min_chars=_MIN_CHARS, is_linked=False, digits_count=True
    ):
        if not more["comma"] and _CODE_SIGN.sub("0", more["code"]) != shape:
            return
        yield more.span("code")
        more = _MORE_CODES.match(words, more.end())


def _match_whole(words: str, end: int) -> re.Match[str] | None:
    """Match a password that quotation marks or the end of its line show whole."""
    return _ALONE.match(words, end) or _IN_QUOTES.match(words, end)


def _find_value(
    plain: PlainForm, name: tuple[int, int], between: re.Match[str] | None, group: _Group
) -> tuple[int, int] | None:
    if between is None:
        return None
    quoted = _QUOTED.match(plain.words, between.end())
    if quoted and (between["link"] or group == "passwords"):
        return quoted.span(2)
    beside = _find_beside(plain, name, between, group)
    if beside or group != "passwords" or between["more"]:
        return beside
    return _find_behind_words(plain.words, between.end(), is_linked=bool(between["link"]))


def _find_beside(
    plain: PlainForm, name: tuple[int, int], between: re.Match[str], group: _Group
) -> tuple[int, int] | None:
    value = _VALUE.match(plain.words, between.end())
    if value is None:
        return None
    secret = value[0].rstrip(".:") if plain.text[value.start() - 1] not in "\"'" else value[0]
    is_linked = bool(between["link"])
    is_number = group == "codes" or plain.text[slice(*name)].isupper()
    is_last = group == "passwords" and _DIGITS_AT_END.match(plain.words, value.start())
    digits_count = group != "keys" and bool(
        (is_linked and not between["more"]) or is_number or is_last
    )
    min_chars = _MIN_CODE_CHARS if group == "codes" else _MIN_CHARS
    if between["more"] and not between["is_written"]:
        min_chars, digits_count = _MIN_BARE_CHARS, False
    if _is_secret(secret, min_chars=min_chars, is_linked=is_linked, digits_count=digits_count):
        return value.start(), value.start() + len(secret)
    return None


def _find_behind_words(words: str, start: int, *, is_linked: bool) -> tuple[int, int] | None:
    """Return the span of a password some words behind its name: `the password is still the old tiger7`.

    Where nothing links both, it has a sign as well: `the password for Office365` names a product.
    """
    behind = _WORDS_BETWEEN.match(words, start)
    secret = behind[1].rstrip(".:?") if behind else ""
    has_both = any(map(str.isdigit, secret)) and any(map(str.isalpha, secret))
    is_said = has_both and (is_linked or _SIGN.search(secret)) and not _CODE.search(secret)
    if behind and is_said and len(secret) >= _MIN_BARE_CHARS:
        return behind.start(1), behind.start(1) + len(secret)
    return None


def _find_spelled_code(
    lowered: str, between: re.Match[str] | None, group: _Group
) -> tuple[int, int] | None:
    """Return the span of a code that is told in words: `my pin is four four one seven`."""
    if between is None or group == "keys" or not (between["link"] or group == "codes"):
        return None
    end = match_spelled_code(lowered, between.end())
    return (between.end(), end) if end else None


def _is_secret(secret: str, *, min_chars: int, is_linked: bool, digits_count: bool) -> bool:
    if len(secret) < min_chars or _CODE.search(secret):
        return False
    if not is_linked and _ASSIGNMENT.match(secret):
        return False
    has_digit = any(map(str.isdigit, secret)) or _is_base32(secret)
    if not any(map(str.isalpha, secret)):
        return has_digit and digits_count
    if is_linked:
        return has_digit or bool(_STRONG_SIGN.search(secret))
    return has_digit and len(secret) >= (min_chars if digits_count else _MIN_BARE_CHARS)


def _is_base32(secret: str) -> bool:
    """Tell a row of random capitals from a long word, which has more vowels and fewer rare letters."""
    surplus = len(_VOWELS.findall(secret)) - len(_RARE_LETTERS.findall(secret))
    return bool(_CAPITALS.fullmatch(secret)) and surplus < len(secret) / 8


@cache
def _compile_code_before() -> re.Pattern[str]:
    """Compile a code that stands before its name: `418 220 is your … verification code`."""
    return re.compile(
        rf"(?<![^\W_])((?:[a-z]-)?(?:[0-9]{{3}}[ -][0-9]{{3}}|[0-9]{{4,8}}))[ ]{build_link_form()}(?:[ ][^\W\d_]{{1,20}}){{1,4}}[ ]\Z"
    )


@cache
def _compile_owner() -> re.Pattern[str]:
    """Compile what stands before the word for a code, with whose code it is: `your Uber`."""
    return re.compile(rf"{build_owner_form()}(?:[^\W_]{{2,20}}[ ])?\Z")


@cache
def _compile_sent_code() -> re.Pattern[str]:
    """Compile a code behind the word for it; four digits before another word count something: `2000 lines`."""
    return re.compile(
        rf"(?:[ ]{build_link_form()}|:)[ ]{{1,2}}(?![0-9]{{4}}[ ][^\W\d_])((?:[a-z]-)?[0-9]{{3}}[ -]?[0-9]{{1,5}})(?![\w-])"
    )
