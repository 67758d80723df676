"""Phone numbers in text: international ones anywhere, and the national formats of some countries."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

from shared.security.plain_form import WORD_END

COUNTRIES = ("US", "GB", "DE", "FR", "ES", "IT", "JP", "BR", "IN", "CN", "MX", "AU")
"""Countries whose national formats are known. Each more costs time, and finds numbers that are none."""

_SIGNS = " \u00a0._-\u2010\u2011\u2012\u2013/()·•"
"""What may stand between the digits of a number."""
_SEPARATOR = f"[{re.escape(_SIGNS)}]"
_CANDIDATE = re.compile(
    rf"[+(0-9](?<![\w#=&?%@/_-].)(?<![0-9]\.[0-9(])(?:(?<=[0-9])|[+(]?[0-9])(?:(?:[{re.escape(_SIGNS)}\n]{{0,2}}| [/-] )[0-9]){{6,}}+(?P<more>[\w%@=])?"
)
_OTHER_NUMBER = re.compile(
    r"(?<![0-9./-])(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.](?:19|20)?[0-9]{2}"
    r"|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9]+\.[0-9]+)(?![./-]?[0-9])"
)
"""Dates, addresses of the net and decimals, which may look like groups of a phone number."""
_OTHER_SIGNS = frozenset("-/.")
"""Each of them has one."""
_SPOKEN = re.compile(r"[0-9](?<![\w.,].)(?:, ?[0-9]){8,15}+(?!\w|[.,] ?[0-9])")
"""Digits said one by one: shorter rows are as often counts."""
_CHINESE_MOBILE = re.compile(rf"{WORD_END}[: ]{{0,2}}(1[3-9][0-9]{{9}})(?![0-9])")
"""Behind a letter of a script without spaces, since nobody groups it."""
_NEXT_NUMBER = re.compile(r"[ \u00a0](?=[+(0])")
_COUNTING = "0123456789012345678"
_GROUP = re.compile(r"\(([^()]*)\)")
_NO_COUNTRY = "001"
"""Stands for the numbers of satellites and services, which belong to no country."""
_TYPES = (
    *("fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost"),
    *("personal_number", "voip", "pager", "uan", "voicemail"),
)
_WITHOUT_SIGNS = str.maketrans("", "", f"{_SIGNS}+")
_MIN_DIGITS = 7
_MAX_DIGITS = 17
"""A number has 15 at most, beside a prefix of two for a call abroad."""


def find_phone_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of phone numbers in a text whose digits are ASCII.

    A number without its country's code counts where it begins with 0 or a bracket, or is grouped as
    its country groups them: other rows of digits may as well be the number of an order.
    """
    yield from (mobile.span(1) for mobile in _CHINESE_MOBILE.finditer(text))
    for place, run in _find_runs(text):
        for offset, candidate in _list_candidates(run):
            for start, end in _find_in(candidate):
                yield place + offset + start, place + offset + end


def _find_runs(text: str) -> Iterator[tuple[int, str]]:
    """Yield runs of digits, with their places; none that goes on as a word."""
    for run in _CANDIDATE.finditer(text):
        if not run["more"]:
            yield run.start(), run[0]


def _list_candidates(run: str) -> Iterable[tuple[int, str]]:
    """Return what may be a number, with its place: a run of digits without other numbers in it."""
    if _OTHER_SIGNS.isdisjoint(run):
        return [(0, run)]
    readable, count = _OTHER_NUMBER.subn(lambda number: "x" * len(number[0]), run)
    return _find_runs(readable) if count else [(0, run)]


def find_spoken_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of numbers whose digits stand one by one, with commas between."""
    for row in _SPOKEN.finditer(text):
        digits = re.sub("[, ]", "", row[0])
        if len(set(digits)) > 2 and digits not in _COUNTING and _is_phone_number(f"({digits}"):
            yield row.span()


def _find_in(candidate: str) -> Sequence[tuple[int, int]]:
    """Return the span of a number, or of those that stand side by side or on lines of their own."""
    if "\n" not in candidate:
        return _find_in_line(candidate)
    lines = candidate.split("\n")
    found = [_find_in_line(line) for line in lines]
    if len(lines) == 2 and not any(found) and _is_phone_number(" ".join(lines)):
        return [(0, len(candidate))]
    places = accumulate((len(line) + 1 for line in lines), initial=0)
    return [
        (place + start, place + end)
        for place, spans in zip(places, found, strict=False)
        for start, end in spans
    ]


def _find_in_line(line: str) -> Sequence[tuple[int, int]]:
    """Return the numbers of a line: all of its groups belong to one, or none is found."""
    if _is_phone_number(line):
        return [(0, len(line))]
    first, *others = numbers = _NEXT_NUMBER.split(line)
    if not others or not all(map(_is_phone_number, others)):
        return ()
    is_first = _is_phone_number(first)
    if not is_first and len(first.translate(_WITHOUT_SIGNS)) >= _MIN_DIGITS:
        return ()
    places = accumulate((len(number) + 1 for number in numbers), initial=0)
    spans = [(place, place + len(number)) for place, number in zip(places, numbers, strict=False)]
    return spans if is_first else spans[1:]


def _is_phone_number(number: str) -> bool:
    is_marked = number.startswith(("+", "0", "("))
    if not is_marked and not _compile_any_groups().fullmatch(number):
        return False
    digits = number.translate(_WITHOUT_SIGNS)
    if not _MIN_DIGITS <= len(digits) <= _MAX_DIGITS:
        return False
    if "+" in number or digits.startswith("00"):
        return _is_international(digits.removeprefix("00"))
    if not _compile_any_form().fullmatch(digits):
        return False
    return is_marked or any(
        _compile_groups(country).fullmatch(number) and _compile_form(country).fullmatch(digits)
        for country in COUNTRIES
    )


def _is_international(digits: str) -> bool:
    return any(
        form.fullmatch(digits, length)
        for length in (1, 2, 3)
        if (form := _compile_international_form(int(digits[:length])))
    )


@cache
def _compile_international_form(calling_code: int) -> re.Pattern[str] | None:
    """Compile the form of the numbers behind a calling code; None where no country has it."""
    regions = [region for region in _list_regions(calling_code) if region != _NO_COUNTRY]
    forms = (
        rf"(?:{metadata.national_prefix_for_parsing or ''})?"
        rf"(?:{metadata.general_desc.national_number_pattern})"
        for metadata in map(_load_metadata, regions)
    )
    return re.compile("|".join(forms), re.ASCII) if regions else None


@cache
def _compile_any_form() -> re.Pattern[str]:
    return re.compile("|".join(_compile_form(country).pattern for country in COUNTRIES), re.ASCII)


@cache
def _compile_any_groups() -> re.Pattern[str]:
    return re.compile("|".join(_compile_groups(country).pattern for country in COUNTRIES), re.ASCII)


@cache
def _compile_form(country: str) -> re.Pattern[str]:
    """Compile what phonenumbers calls valid: the types of numbers of a country, or of one with its calling code."""
    metadata = _load_metadata(country)
    regions = map(_load_metadata, _list_regions(metadata.country_code))
    types = (getattr(region, name) for region in regions for name in _TYPES)
    forms = dict.fromkeys(each.national_number_pattern for each in types if each is not None)
    prefix = rf"(?:{metadata.national_prefix_for_parsing or ''})?"
    rough_form = metadata.general_desc.national_number_pattern  # tells most others apart in no time
    return re.compile(rf"{prefix}(?=(?:{rough_form})\Z)(?:{'|'.join(filter(None, forms))})")


@cache
def _compile_groups(country: str) -> re.Pattern[str]:
    """Compile the ways in which a country groups numbers that need no 0 before them."""
    metadata = _load_metadata(country)
    groups = (
        _GROUP.findall(each.pattern)
        for each in metadata.number_format
        if each.national_prefix_optional_when_formatting
        or not (each.national_prefix_formatting_rule or "").startswith("0")
    )
    forms = (rf"{_SEPARATOR}{{1,2}}".join(form) for form in groups if len(form) > 1)
    return re.compile(rf"(?:{metadata.national_prefix}{_SEPARATOR}{{0,2}})?(?:{'|'.join(forms)})")


def _list_regions(calling_code: int) -> Sequence[str]:
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE

    return COUNTRY_CODE_TO_REGION_CODE.get(calling_code, ())


def _load_metadata(country: str) -> Any:
    from phonenumbers import PhoneMetadata

    return PhoneMetadata.metadata_for_region(country)
