"""Secrets in text: API keys, tokens, passwords, card numbers and IBANs, found by their form.

The patterns are linear in the text: each starts behind a character that it cannot contain, or is
bounded, and takes no character back. What stands before is looked at behind the first character: the engine passes
over all others quickly. Checksums decide for card numbers and IBANs.

Also called: secret scanning, credit card detection, DLP.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise, permutations
from pathlib import Path
from typing import Final, Literal

from shared.domain.value import positional_value

Kind = Literal[
    "private_key",
    "jwt",
    "api_key",
    "authorization",
    "cookie",
    "url_credentials",
    "named_secret",
    "card_number",
    "iban",
    "opaque_token",
]
CREDENTIALS: Final[frozenset[Kind]] = frozenset(
    [
        "private_key",
        "jwt",
        "api_key",
        "authorization",
        "cookie",
        "url_credentials",
        "named_secret",
    ]
)
"""Kinds that give access by themselves. An opaque token may as well be the id of a record."""

_NAMES = (
    r"(?i)(?:pass(?:word|wd|phrase|code)|(?:\b|_)pass|pwd|secret|api[_-]?token|token"
    r"|(?:api|access|account|auth|secret|private|signing|encryption|master|shared|session)[_-]?"
    r"(?:access[_-]?)?(?:key|id|token|secret)|secret[_-]?key[_-]?base|credentials?|[?&](?:x-[a-z]{3,5}-)?(?:key|sig|signature|code|auth))\Z"
)
_NAME_ENDS = (
    *(
        "word",
        "wd",
        "pass",
        "phrase",
        "code",
        "secret",
        "token",
        "key",
        "base",
        "id",
        "credential",
        "credentials",
    ),
    *("sig", "signature", "auth"),
)
"""Ends of the names: most separators of a text stand behind another word."""
_MAX_NAME_CHARS = 48
_BETWEEN_GROUPS = r"(?:, | - |[._,/·:|\n\t-]| {1,3})"
_IBANS: Final[Mapping[str, str]] = json.loads(
    Path(__file__).with_name("iban_forms.json").read_text("utf-8")
)
"""The signs behind a country and two check digits: letters (a), digits (n), or either (c)."""
_IBAN_SIGNS: Final = {"a": "[A-Z]", "n": "[0-9]", "c": "[0-9A-Z]"}
_WITHOUT_SEPARATORS = str.maketrans("", "", " ._,/·:|\n\t-")
_KEY_BEGINNINGS: Final = (
    *(
        "sk",
        "pk",
        "rk",
        "whsec",
        "ghp",
        "gho",
        "ghu",
        "ghs",
        "ghr",
        "github_pat",
        "xox[abeprs]",
        "xapp",
    ),
    *(
        "glpat",
        "gldt",
        "glrt",
        "glptt",
        "npm",
        "pypi",
        "hf",
        "gsk",
        "xai",
        "pplx",
        "pcsk",
        "shp(?:at|ca|pa|ss)",
    ),
    *(
        "do[opr]_v1",
        "lin_api",
        "ntn",
        "r8",
        "tvly",
        "ks_mcp",
        "ks_dev",
        "ks_oac",
        "ks_oat",
        "ks_ort",
    ),
    *(
        "omi_mcp",
        "omi_dev",
        "dckr_[po]at",
        "figdr?",
        "glsa",
        "pscale_[a-z]{2,6}",
        "sntry[su]",
        "PMAK",
        "NRAK",
    ),
    *("NRJS", "HRKU", "nvapi", "rubygems", "lsv2_[ps][tk]", "xkeysib", "duffel_(?:live|test)"),
    *("AGE-SECRET-KEY", "sq0(?:atp|csp)"),
)
"""What stands before a key and a `_` or `-`."""
_LONG_KEY_BEGINNINGS: Final = (
    *(
        "dapi",
        r"dp\.[a-z]{2,5}\.",
        r"pat[A-Za-z0-9]{14}\.",
        "secret_",
        "key-",
        "pul-",
        "re_",
        "sbp_",
        "sgp_",
    ),
    *(
        "ops_",
        "rnd_",
        "vcp_",
        "nfp_",
        "phx_",
        "fm[12]_",
        "glc_",
        "EZ[AT]K",
        "LTAI",
        "AKID",
        "EAA[A-Z]",
    ),
)
"""What words and ids begin with, too: only a long row of letters and digits behind it is a key."""
# Quoted, alone on its line, behind an equals sign, or no mere word: "token: required" is prose.
_NAMED_VALUE = (
    r"(?::=|[:=]>?)\s{0,3}(?:\"(?P<double>[^\"\r\n]{3,500})\"|'(?P<single>[^'\r\n]{3,500})'"
    r"|\\\"(?P<escaped>[^\"\\\r\n]{3,500})\\\")"
    r"|>(?P<element>[^\s<>]{4,200})</"
    r"|=\s?(?P<assigned>[^\s\"'&,;<>]{4,}+)"
    r"|:\s{0,3}(?P<signed>(?=[A-Za-z]{0,60}[^\sA-Za-z\"'.,;)<>\[{])[^\s\"',;<>]{6,}+)"
    r"|:[ \t]{0,3}(?P<alone>[^\s\"',;<>\[{]{6,500})(?=[ \t]{0,3}[\r\n]|\Z)"
)
_OPAQUE: Final = r"[\w+/-]{20,}+={0,2}"
_PATTERNS: Final[Mapping[Kind, str]] = {
    "private_key": (
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?"
        r"(?:-----END [A-Z0-9 ]{0,50}-----|\Z)"
        r"|PuTTY-User-Key-File-[0-9]:[\s\S]*?(?:Private-MAC: [0-9a-f]{1,64}|\Z)"
    ),
    "jwt": (r"(?a)eyJ(?<![\w-]eyJ)[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?"),
    # Slack, Stripe, OpenAI and Anthropic, webhooks, GitHub, GitLab, AWS, Google, and others that
    # document a prefix: their own secret scanners find them by it.
    "api_key": (
        r"(?a)(?<![A-Za-z0-9])(?=[\w./:=+-]{11})(?:"
        rf"(?:{'|'.join(_KEY_BEGINNINGS)})[_-](?=[A-Za-z_/+=-]{{0,40}}[0-9])[\w/+=-]{{8,}}+"
        rf"|(?:{'|'.join(_LONG_KEY_BEGINNINGS)})(?=[A-Za-z]{{0,40}}[0-9])[A-Za-z0-9]{{20}}[\w.=-]*+"
        r"|(?:hv[sbr]\.|AT[AC]TT3|[a-z0-9]{14}\.atlasv1\.)[\w=-]{20,}+|(?<=/webhooks/)[0-9]{17,20}/[\w-]{60,}+"
        r"|[0-9]{6}(?:-[0-9]{6}){7}(?![\w-])"
        r"|hf_[A-Za-z]{30,}+|[MNO][A-Za-z0-9]{23,27}\.[\w-]{6}\.[\w-]{27,}+|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])|AIza[\w-]{30,}+|ya29\.[\w-]{20,}+|GOCSPX-[\w-]{20,}+"
        r"|SG\.[\w-]{16,}+\.[\w-]{16,}+|T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{16,}+|[0-9]{8,10}:[A-Za-z0-9_-]{35}(?![\w-])"
        r")"
    ),
    "authorization": (
        r"(?a)[AaBb](?<!\w.)(?i:(?<=a)uthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(?:bearer|basic|token|digest)\s{1,3})?"
        r"(?P<secret>[^\s\"',;]{4,}+)"
        r"|(?<=b)earer\s{1,3}(?P<bearer>(?=[a-z._~+/=-]{0,60}[0-9]|[a-z._~+/=-]{20})[\w.~+/=-]{8,}+))"
    ),
    "cookie": (
        r"[Cc](?<!\w.)(?i:ookie)[\"']?\s{0,3}:\s{0,3}[\"']?(?P<secret>[\w.-]{1,64}=[^\r\n]*+)"
    ),
    "url_credentials": (
        r"[:SsMmd-](?i:(?<=[a-z0-9+.-]:)//(?P<secret>[^\s/@:\"'<>]{0,100}:[^\s/@\"'<>]{1,200})@"
        r"|(?<=-)(?<![\w-].)(?:u|-user|-proxy-user)[ =][\"']?(?P<login>[a-z][^\s:\"'$]{0,60}:[^\s\"'$]{4,100})"
        r"|(?<=-)(?<![\w-].)-(?:pass(?:word|wd)?|token|secret)[ ][\"']?(?P<option>[^\s\"'$-][^\s\"'$]{3,100})"
        r"|(?<=d)(?<!\w.)ocker login(?: -?[^\s]{1,40}){0,6}? -p[ ]?[\"']?(?P<registry>[^\s\"'$]{4,100})"
        r"|(?<=s)(?<!\w.)shpass[ ]{1,3}-p[ ]?[\"']?(?P<shell>[^\s\"'$]{4,100})"
        r"|(?<=m)(?<!\w.)ysql[a-z]{0,8}(?: -?[^\s]{1,40}){0,6}? -p(?P<database>[^\s\"'$]{4,100}))"
    ),
    "named_secret": "[:=>]",
    "card_number": (
        rf"[2-6](?<![0-9].)(?:(?<!2)|(?=[2-7]))(?=([0-9]{{3}}(?:{_BETWEEN_GROUPS}[0-9]{{4}}){{3}}(?:[._,/· -][0-9]{{1,3}})?(?![0-9])"
        rf"|[0-9]{{3}}{_BETWEEN_GROUPS}[0-9]{{6}}{_BETWEEN_GROUPS}[0-9]{{5}}(?![0-9])|(?:[ -]?[0-9]){{12,18}}))"
    ),
    "iban": r"(?a)[A-Za-z](?:(?<![A-Za-z0-9].)|(?<=(?i:iban).))(?= ?(?P<second>[A-Za-z]) ?[0-9] ?[0-9])",
    "opaque_token": rf"(?a)(?<![\w+/-]){_OPAQUE}",
}
_DOUBLED: Final = str.maketrans("0123456789", "0246813579")
"""Twice a digit, and the sum of its digits."""
_DIGITS: Final = re.compile("[0-9]+")
_UUID = r"(?i)[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}"
_CLASSES = str.maketrans(
    {
        **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", "a"),
        **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "A"),
        **dict.fromkeys("0123456789", "0"),
    }
)
_CHANGES = frozenset(permutations("aA0", 2))
_MIN_CHANGES = 0.25
"""Changes between letters, capitals and digits for each character: words and dates have fewer."""
_MAX_CHECKED_CHARS = 200
"""Of a long run only the beginning is looked at to tell a random token from words."""


@positional_value
class Secret:
    """The span of a secret in a text: from `start` up to, not including, `end`."""

    start: int
    end: int
    kind: Kind


def find_secrets(text: str, *, kinds: Collection[Kind] = tuple(_PATTERNS)) -> list[Secret]:
    """Find secrets of the given kinds, in the order of the text. Spans do not overlap."""
    found = [Secret(start, end, kind) for kind in kinds for start, end in _find(kind, text)]
    return list(_drop_overlaps(found))


def redact_secrets(
    text: str, *, kinds: Collection[Kind] = CREDENTIALS, replacement: str = "[removed]"
) -> str:
    """Replace secrets of the given kinds; names beside them, such as `password=`, stay."""
    parts, end = [], 0
    for secret in find_secrets(text, kinds=kinds):
        parts += [text[end : secret.start], replacement]
        end = secret.end
    return "".join([*parts, text[end:]])


def match_opaque_token(text: str, start: int) -> tuple[int, int] | None:
    """Return the span of a token that begins there, and is random by its signs."""
    token = _compile(rf"(?a){_OPAQUE}").match(text, start)
    return _find_opaque_token(token) if token else None


_compile = cache(re.compile)  # compiling all of them would cost a cold start some milliseconds


def _drop_overlaps(secrets: Iterable[Secret]) -> Iterator[Secret]:
    """Join what overlaps: the kind of the first one stays."""
    current: Secret | None = None
    for secret in sorted(secrets, key=lambda secret: (secret.start, -secret.end)):
        if current is None or secret.start >= current.end:
            if current:
                yield current
            current = secret
        elif secret.end > current.end:
            current = Secret(current.start, secret.end, current.kind)
    if current:
        yield current


def _find(kind: Kind, text: str) -> Iterator[tuple[int, int]]:
    check = _CHECKS.get(kind, _find_group)
    end = 0
    for match in _compile(_PATTERNS[kind]).finditer(text):
        span = check(match) if match.start() >= end else None
        if span is not None:
            end = span[1]
            yield span


def _find_group(match: re.Match[str]) -> tuple[int, int]:
    return match.span(match.lastgroup) if match.lastgroup else match.span()


def _find_card_number(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the longest prefix of the digits that ends with them or a group, and passes Luhn."""
    start = match.start()
    ends = [group.end() for group in _DIGITS.finditer(match.string, start, match.end(1))]
    for end in reversed(ends):
        digits = _join(match.string[start:end])
        if not match.string[end : end + 1].isalnum() and _is_card_number(digits):
            return start, end
    return None


def _is_card_number(digits: str) -> bool:
    return 13 <= len(digits) <= 19 and _passes_luhn(digits)


def _find_iban(match: re.Match[str]) -> tuple[int, int] | None:
    """Return what has the length, the letters and the check digits of an IBAN of its country."""
    country = f"{match[0]}{match['second']}".upper()
    form = _compile_iban(country) if country in _IBANS else None
    iban = form.match(match.string, match.start()) if form else None
    return iban.span() if iban and _passes_mod_97(_join(iban[0])) else None


def is_iban(text: str) -> bool:
    """Tell whether a text is an IBAN, in groups or not."""
    return (0, len(text)) in _find("iban", text)


@cache
def _compile_iban(country: str) -> re.Pattern[str]:
    """Compile the ways to write an IBAN: in groups of four, also behind a country that stands apart, or sign by sign."""
    account = [
        _IBAN_SIGNS[kind]
        for count, kind in re.findall("([0-9]+)([nac])", _IBANS[country])
        for _ in range(int(count))
    ]
    signs = [*country, "[0-9]", "[0-9]", *account]
    groups = ["".join(signs[at : at + 4]) for at in range(0, len(signs), 4)]
    apart = " ".join(["[0-9]{2}", *groups[1:]])
    return re.compile(
        rf"(?ai)(?:{f'{_BETWEEN_GROUPS}?'.join(groups)}|(?-i:{country}) {apart}|{' '.join(signs)})(?![^\W_])"
    )


def _join(groups: str) -> str:
    return groups.translate(_WITHOUT_SEPARATORS)


def _find_named_secret(separator: re.Match[str]) -> tuple[int, int] | None:
    text, place = separator.string, separator.start()
    before = text[max(place - _MAX_NAME_CHARS, 0) : place].rstrip().rstrip("\"'\\])")
    if not before.lower().endswith(_NAME_ENDS) or not _compile(_NAMES).search(before):
        return None
    match = _compile(_NAMED_VALUE).match(text, place)
    return _find_group(match) if match else None


def _passes_luhn(digits: str) -> bool:
    doubled = digits[-2::-2].translate(_DOUBLED)
    return sum(map(int, digits[::-2] + doubled)) % 10 == 0


def _passes_mod_97(iban: str) -> bool:
    return int("".join(str(int(sign, 36)) for sign in iban[4:] + iban[:4])) % 97 == 1


def _find_opaque_token(match: re.Match[str]) -> tuple[int, int] | None:
    token = match[0][:_MAX_CHECKED_CHARS]
    classes = token.translate(_CLASSES)
    if "0" not in classes or not {"a", "A"} & {*classes} or _compile(_UUID).fullmatch(match[0]):
        return None
    changes = sum(pair in _CHANGES for pair in pairwise(classes))
    return match.span() if changes >= _MIN_CHANGES * len(token) else None


_CHECKS: Final[Mapping[Kind, Callable[[re.Match[str]], tuple[int, int] | None]]] = {
    "named_secret": _find_named_secret,
    "card_number": _find_card_number,
    "iban": _find_iban,
    "opaque_token": _find_opaque_token,
}
