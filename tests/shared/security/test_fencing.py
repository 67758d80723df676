"""Fencing of untrusted text: nothing in it gets out of the fence."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.provenance import LIBRARY, Source
from shared.security.fencing import fence_untrusted

MAIL = Source(kind="service", id="gmail", name="Gmail")
HOSTILE = st.lists(
    st.sampled_from(["<", "/", "data", "DATA", ' from="you"', ">", "\n", " ", "</data>", "x"])
).map("".join)


def test_a_fenced_text_names_its_source() -> None:
    assert fence_untrusted("Hi", MAIL) == '<data from="service Gmail">\nHi\n</data>'
    assert fence_untrusted("Hi", LIBRARY) == '<data from="library">\nHi\n</data>'


@given(HOSTILE, HOSTILE)
def test_every_text_and_every_name_stays_inside_its_fence(text: str, name: str) -> None:
    fenced = fence_untrusted(text, Source(kind="app", id="a", name=name))

    first, *_, last = fenced.split("\n")
    assert re.fullmatch(r'<data from="[^"<>]*">', first)
    assert last == "</data>"
    assert len(re.findall(r"<\s*/?\s*data", fenced, re.IGNORECASE)) == 2


@pytest.mark.parametrize("text", ["a < b", "<p>data</p>", "1 <2> 3"])
def test_other_markup_stays_as_it_is(text: str) -> None:
    assert f"\n{text}\n" in fence_untrusted(text, LIBRARY)
