"""Numbers of papers and persons behind their names: passports, licences, ids of countries.

The names in many languages are data (secret_names.json).
"""

import re
from collections.abc import Iterator
from typing import Final

from shared.security.plain_form import PlainForm
from shared.security.secret_names import PresentNames, find_names, match_link, match_number_word

_GROUP = r"(?=[A-Za-z]{0,5}[0-9])[A-Za-z0-9]"
_PAPER: Final = re.compile(
    rf"(?=(?:[A-Za-z №./-]{{0,6}}[0-9]){{4}})"
    rf"(?:{_GROUP}{{1,6}}(?:(?:[ ./-]| № )(?:{_GROUP}{{1,12}}|[A-Z](?=[ ./-][0-9]))){{1,6}}|{_GROUP}{{7,20}}(?:[ ./-]{_GROUP}{{2,7}}){{0,3}})"
    r"(?:[ -]?[A-Za-z]|\([0-9A]\))?(?![\w-])"
)
"""A row of signs or groups with four digits at least, and a letter or sign that checks it."""
_MIN_PAPER_CHARS: Final = 7
_DATE: Final = re.compile(r"\d{4}[./ -]\d\d[./ -]\d\d|\d\d?[./ -]\d\d?[./ -]\d{2,4}")


def find_paper_numbers(
    plain: PlainForm, lowered: str, present: PresentNames
) -> Iterator[tuple[int, int]]:
    """Yield the spans of such numbers; no dates."""
    for _, end in find_names(plain, lowered, present["papers"]):
        number = match_number_word(lowered, end)
        between = match_link(lowered, number.end() if number else end)
        paper = _PAPER.match(plain.words, between.end()) if between else None
        is_long = paper and sum(map(str.isalnum, paper[0])) >= _MIN_PAPER_CHARS
        if paper and is_long and not _DATE.fullmatch(paper[0]):
            yield paper.span()
