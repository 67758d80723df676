"""National ids in text: numbers of persons whose form is their own and whose check digits are right.

Ids that are mere rows of digits with one weak check, such as the Dutch BSN, are not looked for: they
would be found in every tenth number of an order.

Also called: social security numbers.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Final

_MODULES_BY_FORM: Final[Mapping[str, tuple[str, ...]]] = {
    r"\d{3}-\d{2}-\d{4}": ("us.ssn", "us.itin"),
    r"\d{8}-?[A-Z]": ("es.dni",),
    r"[XYZ]-?\d{7}-?[A-Z]": ("es.nie",),
    r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]": ("it.codicefiscale",),
    r"[12] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}": ("fr.nir",),
    r"\d{11}": ("de.idnr", "pl.pesel", "br.cpf"),
    r"\d{2} \d{3} \d{3} \d{3}": ("de.idnr",),
    r"\d{3}\.\d{3}\.\d{3}-\d{2}": ("br.cpf",),
    r"(?:\d{2})?\d{6}[-+]\d{4}": ("se.personnummer", "fi.hetu"),
    r"\d{6}[-+A-FU-Y]\d{3}[\dA-Z]": ("fi.hetu",),
    r"\d{17}[\dX]": ("cn.ric",),
    r"\d{4} \d{4} \d{4}(?! ?\d)": ("in_.aadhaar",),
    r"[A-Z]{5}\d{4}[A-Z]": ("in_.pan",),
    r"\d{6}-[1-8]\d{6}": ("kr.rrn",),
    r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[\dA-Z]\d": ("mx.curp",),
    r"\d{2}\.\d{2}\.\d{2}-\d{3}[. ]\d{2}": ("be.nn",),
    r"756\.\d{4}\.\d{4}\.\d{2}": ("ch.ssn",),
    r"\d{3} \d{3} \d{4}": ("gb.nhs",),
}
"""Checks of python-stdnum by the form in which people write such a number."""
_ANY_FORM: Final = (
    r"(?<![\w.-])(?=[A-Z]{0,6}-?\d)(?:"
    + "|".join(f"({form})" for form in _MODULES_BY_FORM)
    + r")(?![\w-])"
)


def find_national_ids(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of national ids in a text whose digits are ASCII."""
    modules = tuple(_MODULES_BY_FORM.values())
    for match in _compile(_ANY_FORM).finditer(text):
        if any(_is_valid(module, match[0]) for module in modules[(match.lastindex or 1) - 1]):
            yield match.span()


_compile = cache(re.compile)
_load_module = cache(import_module)


def _is_valid(module: str, number: str) -> bool:
    return bool(_load_module(f"stdnum.{module}").is_valid(number))
