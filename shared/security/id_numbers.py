"""Numbers of persons and papers: ids that their form and check digits tell, and what stands behind the name of one.

An id that is a mere row of digits with one weak check, such as the Dutch BSN, counts only near its
name: it would be found in every tenth number of an order. The names in many languages are data (secret_names.json).

Also called: national ids, social security numbers, passports.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Final

from shared.domain.value import value
from shared.security.plain_form import PlainForm
from shared.security.secret_names import (
    PresentNames,
    find_all,
    find_names,
    list_checks,
    match_link,
    match_number_word,
)


@value
class _Form:
    """How an id is written from its first digit on, once in any case, and before it; the checks of python-stdnum."""

    behind: str
    before: str = ""
    modules: tuple[str, ...] = ()


_DIGIT_FORMS: Final = (
    _Form(behind=r"\d{2}-\d{2}-\d{4}", modules=("us.ssn", "us.itin")),
    _Form(behind=r"\d\.?\d{3}\.?\d{3}[ -]?[A-Z]", modules=("es.dni",)),
    _Form(
        behind=r"(?<=[12])[ .]?\d{2}[ .]?\d{2}[ .]?\d[\dAB][ .]?\d{3}[ .]?\d{3}[ ./-]?\d{2}",
        modules=("fr.nir",),
    ),
    _Form(behind=r"\d{10}", modules=("de.idnr", "pl.pesel", "br.cpf", "tr.tckimlik")),
    _Form(behind=r"\d(?:[ .-]\d{3}){3}", modules=("de.idnr",)),
    _Form(behind=r"\d{2}(?:[ .]\d{3}){2}[ -]\d{2}", modules=("br.cpf", "tr.tckimlik")),
    _Form(behind=r"(?:\d{2})?\d{5}[-+ ]\d{4}", modules=("se.personnummer", "fi.hetu")),
    _Form(behind=r"\d{5}[-+A-FU-Y]\d{3}[\dA-Z]", modules=("fi.hetu",)),
    _Form(behind=r"\d{16}[\dX]", modules=("cn.ric",)),
    _Form(behind=r"\d{3}(?:[ .-]\d{4}){2}", modules=("in_.aadhaar",)),
    _Form(behind=r"\d{5}-[1-8]\d{6}", modules=("kr.rrn",)),
    _Form(behind=r"\d\.\d{2}\.\d{2}-\d{3}[. ]\d{2}", modules=("be.nn",)),
    _Form(behind=r"(?<=7)56[ .]?\d{4}[ .]?\d{4}[ .]?\d{2}", modules=("ch.ssn",)),
    _Form(behind=r"\d{2} \d{3} \d{4}", modules=("gb.nhs",)),
)
_LETTER_FORMS: Final = (
    _Form(
        before=r"(?:[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]|QQ)[ .-]?",
        behind=r"\d(?:[ .-]?\d{2}){2}[ .-]?[A-D]",
    ),
    _Form(before="[XYZ][ -]?", behind=r"\.?\d{3}\.?\d{3}[ -]?[A-Z]", modules=("es.nie",)),
    _Form(
        before="[A-Z]{3} ?[A-Z]{3} ?",
        behind=r"\d[A-Z]\d{2} ?[A-Z]\d{3}[A-Z]",
        modules=("it.codicefiscale",),
    ),
    _Form(before="[A-Z]{5}", behind=r"\d{3}[A-Z]", modules=("in_.pan",)),
    _Form(before="[A-Z]{4}", behind=r"\d{5}[HMX][A-Z]{5}[\dA-Z]\d", modules=("mx.curp",)),
)
_FORMS: Final = (*_DIGIT_FORMS, *_LETTER_FORMS)
_MAX_CHARS_BEFORE: Final = 8
_SEPARATORS: Final = re.compile(r"[ ./-]")
_GROUP: Final = r"(?=[A-Za-z]{0,5}[0-9])[A-Za-z0-9]"
_PAPER: Final = re.compile(
    rf"(?:(?=(?:[A-Za-z №./-]{{0,6}}[0-9]){{4}})"
    rf"(?:{_GROUP}{{1,6}}(?:(?:[ ./-]| № )(?:{_GROUP}{{1,12}}|[A-Z](?=[ ./-][0-9]))){{1,6}}|{_GROUP}{{7,20}}(?:[ ./-]{_GROUP}{{2,7}}){{0,3}})"
    r"(?:[ -]?[A-Za-z]|\([0-9A]\))?|(?=[A-Z]{0,8}[0-9])[CFGHJ-NPRTV-Z0-9]{9,10})(?![\w-])"
)
"""A row of signs or groups with four digits at least, and a letter or sign that checks it, or one without the vowels of words."""
_MIN_PAPER_CHARS: Final = 7
_DATE: Final = re.compile(r"\d{4}[./ -]\d\d[./ -]\d\d|\d\d?[./ -]\d\d?[./ -]\d{2,4}")
_CHECKED: Final = re.compile(
    r"[0-9A-Za-z](?<![\w.-].)(?:(?<=[0-9])(?:[0-9]{8,11}|(?:[ .-]?[0-9]){8,11})|[0-9A-Za-z]{8}[0-9])(?![\w-])"
)
_ID_CARD: Final = re.compile("[CFGHJ-NPRTV-Z][CFGHJ-NPRTV-Z0-9]{8}[0-9]")
_NEAR_CHARS: Final = 40
_MAX_CHECKED_CHARS: Final = 24


def find_id_numbers(
    plain: PlainForm, lowered: str, present: PresentNames
) -> Iterator[tuple[int, int]]:
    """Yield the spans of such numbers. `lowered` is the text in small letters, `present` the names that stand in it."""
    yield from _find_by_form(plain.words)
    for _, end in find_names(plain, lowered, present["papers"]):
        yield from _find_behind_name(plain.words, lowered, end)
    for name in present["checked"]:
        for start in find_all(lowered, name):
            yield from _find_near_name(plain.words, start, name)


def _find_by_form(text: str) -> Iterator[tuple[int, int]]:
    """Yield ids by their first digit: words are many, and most are no part of one."""
    for found in _compile_forms().finditer(text):
        form = _FORMS[(found.lastindex or 0) - 1]
        start, end = _find_start(form, text, found.start()), found.end()
        if start is None or _is_part_of_row(text, start, end):
            continue
        number = text[start:end].upper()
        if not form.modules or _is_any(form.modules, number):
            yield start, end


def _find_start(form: _Form, text: str, digit: int) -> int | None:
    if not form.before:
        return digit
    before = _compile_before(form.before).search(text, max(digit - _MAX_CHARS_BEFORE, 0), digit)
    return before.start() if before else None


def _is_part_of_row(text: str, start: int, end: int) -> bool:
    """Tell groups that are a part of a longer row."""
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    goes_on = (before[:1].isdigit() and before[1:] in {" ", "."}) or (
        after[:1] in {" ", "."} and after[1:].isdigit()
    )
    return goes_on and bool(_SEPARATORS.search(text, start, end))


def _find_behind_name(words: str, lowered: str, end: int) -> Iterator[tuple[int, int]]:
    """Yield a number that stands directly behind its name; no date."""
    number = match_number_word(lowered, end)
    between = match_link(lowered, number.end() if number else end)
    paper = _PAPER.match(words, between.end()) if between else None
    is_long = paper and sum(map(str.isalnum, paper[0])) >= _MIN_PAPER_CHARS
    if paper and is_long and not _DATE.fullmatch(paper[0]):
        yield paper.span()


def _find_near_name(words: str, start: int, name: str) -> Iterator[tuple[int, int]]:
    """Yield numbers with right check digits that stand soon behind their name."""
    last = start + _NEAR_CHARS
    for number in _CHECKED.finditer(words, start + len(name), last + _MAX_CHECKED_CHARS):
        if number.start() <= last and _is_any(list_checks(name), number[0].upper()):
            yield number.span()


def _is_any(modules: Iterable[str], number: str) -> bool:
    numbers = {number, _SEPARATORS.sub("", number)}
    return any(_is_valid(module, each) for module in modules for each in numbers)


def _is_valid(module: str, number: str) -> bool:
    if module == "de.id_card":
        return _passes_id_card(number)
    try:
        return bool(_load_module(f"stdnum.{module}").is_valid(number))
    except KeyError:  # the last check of a Chinese id raises where its table has the province alone
        return True


def _passes_id_card(number: str) -> bool:
    """Check the last digit of a German card: weights 7, 3 and 1."""
    if not _ID_CARD.fullmatch(number):
        return False
    products = (int(sign, 36) * (7, 3, 1)[n % 3] for n, sign in enumerate(number[:-1]))
    return sum(products) % 10 == int(number[-1])


@cache
def _compile_forms() -> re.Pattern[str]:
    digits, letters = (
        "|".join(f"({form.behind})" for form in forms) for forms in (_DIGIT_FORMS, _LETTER_FORMS)
    )
    return re.compile(
        rf"(?i)[0-9](?<![0-9].)(?:(?<![\w.-].)(?=(?:[ .-]?[0-9]){{5}})(?a:{digits})"
        rf"|(?:(?<=[A-Z].)|(?<=[A-Z][ .-].))(?a:{letters}))(?![\w-])"
    )


@cache
def _compile_before(before: str) -> re.Pattern[str]:
    return re.compile(rf"(?i)(?<![\w.-])(?a:{before})\Z")


_load_module = cache(import_module)
