"""Private data in text: addresses and numbers that name a person, and secrets, found by their form.

Names of people and street addresses have no form, so they are not found.

Also called: PII, personal data.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

from shared.domain.value import positional_value
from shared.security import secrets
from shared.security.id_numbers import find_id_numbers
from shared.security.phone_numbers import find_phone_numbers, find_spoken_numbers
from shared.security.plain_form import PlainForm, read_plain
from shared.security.secret_names import list_present
from shared.security.spelled_emails import find_spelled_emails
from shared.security.spelled_numbers import find_spelled_numbers
from shared.security.spoken_secrets import find_spoken_secrets

Kind = Literal["email", "phone", "iban", "card", "id", "secret", "text"]
"""`text` is what a caller adds: find_private() finds none."""

_SECRET_KINDS: Final[frozenset[secrets.Kind]] = secrets.CREDENTIALS | {"card_number", "iban"}
"""Not opaque tokens: those are as often ids of records, which a model passes on to tools."""
_KIND_BY_SECRET: Final[Mapping[secrets.Kind, Kind]] = {"card_number": "card", "iban": "iban"}
_SECRETS: Final[frozenset[Kind]] = frozenset(("secret", "card", "iban", "id"))
_ID_NAME = re.compile(r"(?i)id[\"'\\]*\s*[:=]>?\s*[\"'\\]*\Z")
_CODE_NAME = re.compile(r"[a-z]\w{0,40}\s?=\s?\Z")
_CODE_VALUE = re.compile(
    r"[$<{`].*|[^\W\d][^\W\d.]*(?:\.[^\W\d]+)*|[^\s\"']*[()\[\]{}].*", re.DOTALL
)
_MAX_NAME_CHARS = 60
_MARKS = "\u0300-\u036f\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0b82\u0bbe-\u0bcd\u0c00-\u0c4d"
"""Vowels of scripts in which they are no letters."""
_AT = re.compile(r"[@\\](?:(?<=@)|u0040)")
"""JSON may write the at sign as an escape."""
_LOCAL = re.compile(
    r"(?<![\w.+%-])(?:\w[\w!#$%&'*+=?^`{|}~."
    rf"{_MARKS}-]{{0,63}}+|\"[^\s\"@][^\n\"@]{{0,62}}\")\Z"
)
_MAX_LOCAL_CHARS = 65
_DOMAIN = re.compile(
    rf"(?:[^\W_][\w{_MARKS}-]{{0,62}}\.){{1,8}}(?:xn--[a-z0-9-]{{2,59}}|(?:[^\W\d_]|[{_MARKS}]){{2,24}})"
    r"|\[[0-9a-fA-F.:]{7,45}\]"
)
_TOPS = "中国|中國|公司|网络|網絡|网址|香港|台湾|台灣|新加坡|在线|中文网|みんな|コム|ストア|닷컴|닷넷|한국|ไทย"
_SPACELESS_EMAIL = re.compile(
    r"(?:(?<![A-Za-z0-9._%+-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}+|(?<!\S)[^\W\x00-\x7f]{1,30}+)"
    rf"@(?:[\w\u0e31-\u0e4e-]{{1,62}}\.){{1,3}}(?:{_TOPS})"
)
"""At a domain in a script that writes no spaces."""
_GOODS = re.compile(
    r"1[Zz](?<!\w1.)(?: ?[0-9A-Za-z]){16}(?!\w)|(?:ISBN|ISSN|GTIN|EAN)(?:-1[03])?:? ?[0-9][0-9X -]{6,20}"
)
"""Numbers of parcels, books and goods: a part of them may look like a phone number."""
_BARE_ACCOUNT = re.compile(r"[0-9](?<![\w.-].)[0-9](?:[ ._-]?[0-9]{4}){6}(?![\w-])")
"""A Polish account, mostly written without the country's code."""


@positional_value
class PrivateSpan:
    """A span of private data in a text: from `start` up to, not including, `end`."""

    start: int
    end: int
    kind: Kind


def hide_secrets(text: str) -> str:
    """Put an ellipsis in the place of secrets and of the numbers of accounts, cards and papers."""
    for span in reversed(_list_secrets(text)):
        text = f"{text[: span.start]}…{text[span.end :]}"
    return text


def has_secret(text: str) -> bool:
    """Tell whether a text has what hide_secrets() hides."""
    return bool(_list_secrets(text))


def _list_secrets(text: str) -> list[PrivateSpan]:
    return [span for span in find_private(text) if span.kind in _SECRETS]


def find_private(text: str) -> list[PrivateSpan]:
    """Find private data, in the order of the text. Spans do not overlap."""
    plain = read_plain(text)
    spans = join_overlaps(_find_all(plain))
    return [PrivateSpan(*plain.locate(span.start, span.end), span.kind) for span in spans]


def _find_all(plain: PlainForm) -> Iterator[PrivateSpan]:
    text = plain.words
    for secret in secrets.find_secrets(text, kinds=_SECRET_KINDS):
        kind = _KIND_BY_SECRET.get(secret.kind, "secret")
        if kind == "secret" and not _is_written_out(text, secret):
            continue
        yield PrivateSpan(secret.start, secret.end, kind)
    lowered = plain.text.lower()
    yield from _find_named(plain, lowered.replace("’", "'").replace("_", " "))
    for span in (*_find_emails(text), *find_spelled_emails(text)):
        yield PrivateSpan(*span, "email")
    if plain.words != plain.text and "@" in plain.text:
        for match in _SPACELESS_EMAIL.finditer(plain.text):
            yield PrivateSpan(*match.span(), "email")
    yield from _find_numbers(plain, lowered)


def _find_named(plain: PlainForm, lowered: str) -> Iterator[PrivateSpan]:
    """Yield what a name before it tells; RECOVERY_KEY is a `recovery key`."""
    present = list_present(lowered)
    for span in find_id_numbers(plain, lowered, present):
        yield PrivateSpan(*span, "id")
    for span in find_spoken_secrets(plain, lowered, present):
        yield PrivateSpan(*span, "secret")


def _find_emails(text: str) -> Iterator[tuple[int, int]]:
    """Yield addresses by their at sign: words are many, and most are no part of one."""
    for at in _AT.finditer(text):
        domain = _DOMAIN.match(text, at.end())
        first = max(at.start() - _MAX_LOCAL_CHARS, 0)
        local = _LOCAL.search(text, first, at.start()) if domain else None
        if domain and local:
            yield local.start(), domain.end()


def _find_numbers(plain: PlainForm, lowered: str) -> Iterator[PrivateSpan]:
    for match in _BARE_ACCOUNT.finditer(plain.words):
        if secrets.is_iban(f"PL{match[0]}"):
            yield PrivateSpan(*match.span(), "iban")
    numbers = _GOODS.sub(lambda goods: "x" * len(goods[0]), plain.words)
    for span in (*find_phone_numbers(numbers), *find_spoken_numbers(numbers)):
        yield PrivateSpan(*span, "phone")
    for span in find_spelled_numbers(plain, lowered):
        yield PrivateSpan(*span, "phone")


def _is_written_out(text: str, secret: secrets.Secret) -> bool:
    """Tell a secret itself from an id, and from code that only names one: `token = request.token`."""
    before = text[max(secret.start - _MAX_NAME_CHARS, 0) : secret.start]
    is_code = _CODE_VALUE.fullmatch(text[secret.start : secret.end])
    if secret.kind == "authorization":
        return not is_code or _holds_login(text[secret.start : secret.end])
    if secret.kind == "named_secret":
        return not _ID_NAME.search(before) and not (is_code and _CODE_NAME.search(before))
    return True


def _holds_login(value: str) -> bool:
    """Tell a name and a password, or a token with a head, in base64 from the name of a variable."""
    try:
        held = base64.b64decode(value.partition(".")[0] + "==", altchars=b"-_")
    except ValueError:
        return False
    return held.isascii() and (b":" in held or held.startswith(b"{"))


def join_overlaps(spans: Iterable[PrivateSpan]) -> Iterator[PrivateSpan]:
    """Join what overlaps: the kind of the first one stays."""
    current: PrivateSpan | None = None
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if current is None or span.start >= current.end:
            if current:
                yield current
            current = span
        elif span.end > current.end:
            current = PrivateSpan(current.start, span.end, current.kind)
    if current:
        yield current
