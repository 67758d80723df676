"""Phone numbers: what has the form of a country's numbers is exactly what phonenumbers calls valid (M101)."""

import re
from functools import cache
from typing import Any

import phonenumbers
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata

from shared.security.phone_numbers import COUNTRIES, find_phone_numbers

TYPES = ("fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost", "voip", "uan", "pager")


def load_metadata(region: str) -> Any:
    return PhoneMetadata.metadata_for_region(region)


def list_examples() -> list[str]:
    """List a number of each type of each region that a national form may stand for, as it is dialled at home."""
    codes = [phonenumbers.country_code_for_region(country) for country in COUNTRIES]
    regions = [region for code in codes for region in COUNTRY_CODE_TO_REGION_CODE[code]]
    return [
        f"{prefix}{described.example_number}"
        for metadata in map(load_metadata, regions)
        for described in (getattr(metadata, name) for name in TYPES)
        if described is not None and described.example_number
        for prefix in ("", metadata.national_prefix or "", str(metadata.country_code))
    ]


@cache
def compile_general_form(country: str) -> re.Pattern[str]:
    metadata = load_metadata(country)
    prefix = metadata.national_prefix_for_parsing or ""
    return re.compile(rf"(?:{prefix})?(?:{metadata.general_desc.national_number_pattern})")


def is_valid(digits: str, country: str) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(digits, country))
    except phonenumbers.NumberParseException:
        return False


@st.composite
def changed_examples(draw: st.DrawFn) -> str:
    """An example with up to three other digits, perhaps one more, and perhaps the prefix of a call abroad."""
    digits = list(draw(st.sampled_from(EXAMPLES)))
    for _ in range(draw(st.integers(0, 3))):
        digits[draw(st.integers(0, len(digits) - 1))] = draw(DIGITS)
    if draw(st.booleans()):
        digits.insert(draw(st.integers(0, len(digits))), draw(DIGITS))
    return draw(st.sampled_from(["", "", "", "0", "1", "011", "010", "0011", "01"])) + "".join(
        digits
    )


EXAMPLES = list_examples()
DIGITS = st.sampled_from("0123456789")
NUMBERS = changed_examples() | st.text(DIGITS, min_size=6, max_size=16)


@settings(max_examples=settings().max_examples * 12)
@given(NUMBERS)
@example("0101234567")
@example("12684601234")
def test_a_national_number_is_found_where_it_is_valid_in_one_of_the_countries_m101(
    digits: str,
) -> None:
    assume(not digits.startswith("00"))

    found = list(find_phone_numbers(f"({digits}"))

    is_expected = 7 <= len(digits) <= 17 and any(
        compile_general_form(country).fullmatch(digits) and is_valid(digits, country)
        for country in COUNTRIES
    )
    assert bool(found) is is_expected
