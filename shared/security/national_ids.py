"""National ids in text: numbers of persons whose form is their own and whose check digits are right.

An id that is a mere row of digits with one weak check, such as the Dutch BSN, counts only behind its
name: it would be found in every tenth number of an order.

Also called: social security numbers.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Final

from shared.domain.value import value

_SEPARATORS: Final = re.compile(r"[ ./-]")
_NAME_CHARS: Final = 40


@value
class _Form:
    """How an id is written, once in any case; the checks of python-stdnum, and the names of a weak one."""

    pattern: str
    modules: tuple[str, ...] = ()
    names: str = ""


_LETTER_FORMS: Final = (
    _Form(
        pattern=r"(?:[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]|QQ)[ .-]?\d{2}[ .-]?\d{2}[ .-]?\d{2}[ .-]?[A-D]"
    ),
    _Form(pattern=r"[XYZ][ -]?\d\.?\d{3}\.?\d{3}[ -]?[A-Z]", modules=("es.nie",)),
    _Form(
        pattern=r"[A-Z]{3} ?[A-Z]{3} ?\d{2}[A-Z]\d{2} ?[A-Z]\d{3}[A-Z]",
        modules=("it.codicefiscale",),
    ),
    _Form(pattern=r"[A-Z]{5}\d{4}[A-Z]", modules=("in_.pan",)),
    _Form(pattern=r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[\dA-Z]\d", modules=("mx.curp",)),
    _Form(
        pattern=r"[CFGHJ-NPRTV-Z][CFGHJ-NPRTV-Z\d]{8}\d",
        modules=("de.id_card",),
        names=r"ausweis|id.?card|perso\b",
    ),
)
_DIGIT_FORMS: Final = (
    _Form(pattern=r"\d{3}-\d{2}-\d{4}", modules=("us.ssn", "us.itin")),
    _Form(
        pattern=r"\d{3}[ .]?\d{2}[ .]?\d{4}",
        modules=("us.ssn", "us.itin"),
        names=r"ssn|social security|itin",
    ),
    _Form(pattern=r"\d{2}\.?\d{3}\.?\d{3}[ -]?[A-Z]", modules=("es.dni",)),
    _Form(
        pattern=r"[12][ .]?\d{2}[ .]?\d{2}[ .]?\d[\dAB][ .]?\d{3}[ .]?\d{3}[ ./-]?\d{2}",
        modules=("fr.nir",),
    ),
    _Form(pattern=r"\d{11}", modules=("de.idnr", "pl.pesel", "br.cpf", "tr.tckimlik")),
    _Form(pattern=r"\d{2}[ .-]\d{3}[ .-]\d{3}[ .-]\d{3}", modules=("de.idnr",)),
    _Form(pattern=r"\d{3}[ .]\d{3}[ .]\d{3}[ -]\d{2}", modules=("br.cpf", "tr.tckimlik")),
    _Form(pattern=r"(?:\d{2})?\d{6}[-+ ]\d{4}", modules=("se.personnummer", "fi.hetu")),
    _Form(
        pattern=r"(?:19|20)?\d{10}", modules=("se.personnummer",), names=r"personn|pnr|person ?nr"
    ),
    _Form(pattern=r"\d{6}[-+A-FU-Y]\d{3}[\dA-Z]", modules=("fi.hetu",)),
    _Form(pattern=r"\d{17}[\dX]", modules=("cn.ric",)),
    _Form(pattern=r"\d{4}[ .-]\d{4}[ .-]\d{4}", modules=("in_.aadhaar",)),
    _Form(pattern=r"\d{12}", modules=("in_.aadhaar",), names=r"aadh?aa?r|uidai|आधार"),
    _Form(
        pattern=r"\d{4}[ -]?\d{4}[ -]?\d{4}",
        modules=("jp.in_",),
        names=r"マイナンバー|個人番号|my ?number",
    ),
    _Form(pattern=r"\d{6}-[1-8]\d{6}", modules=("kr.rrn",)),
    _Form(pattern=r"\d{2}\.\d{2}\.\d{2}-\d{3}[. ]\d{2}", modules=("be.nn",)),
    _Form(pattern=r"756[ .]?\d{4}[ .]?\d{4}[ .]?\d{2}", modules=("ch.ssn",)),
    _Form(pattern=r"\d{3} \d{3} \d{4}", modules=("gb.nhs",)),
    _Form(
        pattern=r"\d{3}[ .]?\d{2}[ .]?\d{4}|\d{4}[ .]?\d{2}[ .]?\d{3}|\d{3}[ .]?\d{3}[ .]?\d{3}",
        modules=("nl.bsn",),
        names=r"bsn|burgerservice|sofi",
    ),
)
_MAY_BEGIN: Final = re.compile(
    r"[0-9A-Za-z](?<![\w.-].)(?:(?<=[0-9])(?=(?:[ .-]?[0-9]){5})"
    r"|(?<=[A-Za-z])(?=[A-Za-z]{0,5}[ -]?[0-9]|[A-Za-z]{2} [A-Za-z]{3} [0-9]))(?=[\w+ .-]{8})"
)
"""Tells most words and numbers apart from ids in no time."""
_ANY_FORM: Final = (
    rf"(?i)(?:{'|'.join(form.pattern for form in (*_DIGIT_FORMS, *_LETTER_FORMS))})(?![\w-])"
)
"""Tells where an id may stand; which form it has, each form tells for itself."""


def find_national_ids(text: str, names: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of national ids in a text whose digits are ASCII; their names stand in `names`."""
    read_to = 0
    for begin in _MAY_BEGIN.finditer(text):
        start = begin.start()
        match = _compile(_ANY_FORM).match(text, start) if start >= read_to else None
        if match is None:
            continue
        read_to = match.end()
        if _continues_groups(match):
            continue
        forms = _DIGIT_FORMS if match[0][0].isdigit() else _LETTER_FORMS
        ends = (_find_end(form, text, names, start) for form in forms)
        end = max(filter(None, ends), default=None)
        if end is not None:
            yield start, end


def _find_end(form: _Form, text: str, names: str, start: int) -> int | None:
    """Return where an id of this form ends that begins here; it is no part of a longer row of groups."""
    match = _compile(rf"(?i)(?:{form.pattern})(?![\w-])").match(text, start)
    if match is None or not match[0].isascii() or _has_more_groups(match):
        return None
    if form.names and not _compile(f"(?i){form.names}").search(
        names[max(start - _NAME_CHARS, 0) : start]
    ):
        return None
    number = _SEPARATORS.sub("", match[0]).upper()
    is_valid = not form.modules or any(
        _is_valid(module, each) for module in form.modules for each in {number, match[0].upper()}
    )
    return match.end() if is_valid else None


def _continues_groups(match: re.Match[str]) -> bool:
    before = match.string[max(match.start() - 2, 0) : match.start()]
    is_behind_a_group = before[:1].isdigit() and before[1:] in {" ", "."}
    return is_behind_a_group and bool(_SEPARATORS.search(match[0]))


def _has_more_groups(match: re.Match[str]) -> bool:
    after = match.string[match.end() : match.end() + 2]
    is_before_a_group = after[:1] in {" ", "."} and after[1:].isdigit()
    return is_before_a_group and bool(_SEPARATORS.search(match[0]))


_compile = cache(re.compile)
_load_module = cache(import_module)


def _is_valid(module: str, number: str) -> bool:
    if module == "de.id_card":
        return _passes_id_card(number)
    return bool(_load_module(f"stdnum.{module}").is_valid(number))


def _passes_id_card(number: str) -> bool:
    """Check the last digit of a German card: weights 7, 3 and 1."""
    products = (int(sign, 36) * (7, 3, 1)[n % 3] for n, sign in enumerate(number[:-1]))
    return sum(products) % 10 == int(number[-1])
