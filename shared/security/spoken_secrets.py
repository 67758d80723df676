"""Secrets that people tell: the next word with a digit or a sign behind a name such as "my password is".

The names in many languages are data (secret_names.json).
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

from shared.security.plain_form import WORD_END, PlainForm

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
_CODE: Final = re.compile(r"[()\[\]{}`]|://|\A[$%]\w+\Z")


def find_spoken_secrets(plain: PlainForm) -> Iterator[tuple[int, int]]:
    """Yield the spans of values behind the name of a secret."""
    lowered = plain.text.lower()
    for name, group in _load_names().items():
        start = lowered.find(name)
        while start >= 0:
            end = start + len(name)
            if _is_word(plain, start, end):
                span = _find_value(plain, lowered, (start, end), group)
                if span:
                    yield span
            start = lowered.find(name, end)


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
    value = _VALUE.match(plain.words, between.end()) if between else None
    if between is None or value is None:
        return None
    secret = value[0].rstrip(".:") if plain.text[value.start() - 1] not in "\"'" else value[0]
    is_linked = bool(between["link"])
    is_number = group == "codes" or plain.text[slice(*name)].isupper()
    digits_count = group != "keys" and (is_linked or is_number)
    min_chars = _MIN_CODE_CHARS if group == "codes" else _MIN_CHARS
    if _is_secret(secret, min_chars=min_chars, is_linked=is_linked, digits_count=digits_count):
        return value.start(), value.start() + len(secret)
    return None


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
def _load_names() -> Mapping[str, _Group]:
    """Return the names in small letters, composed and decomposed."""
    return {
        unicodedata.normalize(form, name): group
        for group in get_args(_Group)
        for names in _NAMES[group].values()
        for name in names
        for form in ("NFC", "NFD")
    }


@cache
def _compile_between() -> re.Pattern[str]:
    """Compile what stands between a name and its value: `for the guests is`, `(wifi)`, a colon, a quote."""
    words = "|".join(re.escape(link) for link in sorted(_NAMES["links"], key=len, reverse=True))
    link = rf"(?:{words})(?=[\s\"'\\]|(?<=[^a-z]))"
    of = rf"[ ](?:{'|'.join(_NAMES['of'])})(?:[ ][^\s:=]{{1,30}}){{1,3}}?[ ]{{0,3}}"
    own = rf"[ ](?:{'|'.join(_NAMES['own'])})(?!\w)"
    aside = r"[ ]?\([^\n()]{1,30}\)"
    return re.compile(
        rf"[\"'\\]{{0,3}}(?:(?:{of}|{own}|{aside})?[ ]{{0,3}}(?P<link>{link})|(?:{own})?(?=[\s\"'])|(?<=[^\x00-\u02ff]))"
        r"\s{0,3}:?[ ]{0,3}[\"'\\]{0,3}"
    )
