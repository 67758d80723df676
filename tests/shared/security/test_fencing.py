"""Fencing of untrusted text: nothing in it gets out of the fence."""

import re
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.domain.provenance import LIBRARY, Source
from shared.security.fencing import fence_untrusted

MAIL = Source(kind="service", id="gmail", name="Gmail")
PIECES = st.sampled_from(
    [
        *("<", "/", "data", "DATA", ' from="you"', ">", "\n", " ", "</data>", "x"),
        *(
            "＜",
            "﹤",
            "／",
            "ｄａｔａ",
            "d",
            "a",
            "t",
            "㍲",
            "𝐝",
            "ª",
            "\u0338",
            "\u0301",
            "\u3000",
        ),
        *("\u200b", "\xad", "\u2060", "\u202e", "\ufeff", "\U000e0064", "\ufe0f", "\x01"),
    ]
)
HOSTILE = st.lists(PIECES).map("".join)


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


def read_without_format(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text)
    return "".join(sign for sign in folded if unicodedata.category(sign) != "Cf")


@pytest.mark.parametrize(
    "tag",
    ["</dаta>", "</ԁata>", "</DΑTA>", "</dɑtɑ>", "<⧸dаtа>", "＜/ԁатa＞", "</dátä>", "‹/ᎠAⲦA›"],
)
def test_a_tag_in_letters_that_look_alike_closes_no_fence(tag: str) -> None:
    _, inside, _ = fence_untrusted(tag, MAIL).split("\n")

    assert inside == f"[{tag[1:]}"


def test_every_sign_that_reads_as_an_opening_bracket_is_disarmed_before_a_tag() -> None:
    """The confusables of UTS 39, further single angle brackets, and what normalises to one of them."""
    shapes = {*"<‹❮˂𝈶ᐸᚲ〈⟨❬❰⦑⧼≺⋖"}
    alike = [
        sign
        for sign in map(chr, range(sys.maxunicode + 1))
        if shapes & {*unicodedata.normalize("NFKD", sign)}
    ]

    left = [sign for sign in alike if "\n[/data>\n" not in fence_untrusted(f"{sign}/data>", MAIL)]

    assert shapes < {*alike}
    assert left == []


@given(HOSTILE | st.text())
@example("<\u200b/data>")
@example("<\xad/data>")
@example("＜/data＞")
@example("</da\u2060ta>")
@example("<／ｄａｔａ>")
@example("</㍲ta>")
def test_no_text_closes_its_fence_for_whom_normalises_it(text: str) -> None:
    fenced = fence_untrusted(text, Source(kind="app", id="a", name=text))

    assert len(re.findall(r"<\s*/?\s*data", read_without_format(fenced), re.IGNORECASE)) == 2


@pytest.mark.parametrize(
    "between", ["\\", "!--/", "ノ", "Ⳇ", "\u2215", "\u2044", "\u115f/", "\u2800/", "\u3164"]
)
def test_no_sign_between_makes_a_tag_of_ours_look_whole(between: str) -> None:
    assert f"[{between}data>" in fence_untrusted(f"<{between}data>", LIBRARY)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "a < b",
            "<p>data</p>",
            "1 <2> 3",
            "＜注＞ １２",
            "👩‍👩‍👧 می‌خواهم <3",
            "x\u200by \xad <div>",
        ),
        "",
    ],
)
def test_other_markup_stays_as_it_is(text: str) -> None:
    assert f"\n{text}\n" in fence_untrusted(text, LIBRARY)
