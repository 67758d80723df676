"""Visible text: what is stripped, and what scripts and emoji need."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.security.visible_text import strip_invisible, write_name

HIDDEN = b"the code is 4711"


@pytest.mark.parametrize(
    "spelt",
    [
        "".join(chr(0xE0000 + byte) for byte in HIDDEN),
        "".join(chr(0xE0100 + byte) for byte in HIDDEN),
        "".join(chr(0xFE00 + nibble) for byte in HIDDEN for nibble in divmod(byte, 16)),
        "".join("\u200c" if byte >> bit & 1 else "\u200d" for byte in HIDDEN for bit in range(8)),
    ],
)
def test_invisible_characters_cannot_carry_text(spelt: str) -> None:
    assert len(strip_invisible(f"Hi {spelt}there")) <= len("Hi there") + 2


@pytest.mark.parametrize("letter", ["e", "é", "ж", "Ω", " ", "7", "."])
def test_no_letter_carries_a_byte_that_nobody_sees_s1(letter: str) -> None:
    spelt = "".join(f"{letter}{chr(0xFE00 + n % 16)}{chr(0xFE00 + n // 16)}" for n in HIDDEN)
    blanks = "\u200c\u200d\u00ad\u3164"
    joined = "".join(f"{letter}{blanks[n % 4]}{blanks[n // 4 % 4]}" for n in HIDDEN)

    assert strip_invisible(spelt) == strip_invisible(joined) == letter * len(HIDDEN)


@pytest.mark.parametrize(
    "text",
    ["1️⃣ ©️", "❤️‍🔥 👩🏽‍🚀 🏳️‍🌈", "می‌خواهم", "क्‍ष", "葛︀城"],
    ids=["digits", "emoji", "persian", "hindi", "han"],
)
def test_joiners_that_scripts_and_emoji_need_are_kept(text: str) -> None:
    assert strip_invisible(text) == text


@given(st.text(alphabet="a1\u20e3\u00ad\u200b\u200c\u200d\ufe0f\U000e0041\U000e0100"))
def test_stripping_twice_equals_stripping_once(text: str) -> None:
    assert strip_invisible(strip_invisible(text)) == strip_invisible(text)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Z" + "\u0336\u035f\u0489" * 30 + "algo", "Z\u0336\u035f\u0489\u0336algo"),
        (" Notes\n\u202eby\u200b Ann ", "Notes by Ann"),
        ("Nguyễn Thị Hạnh", "Nguyễn Thị Hạnh"),
        ("שָׁלוֹם", "שָׁלוֹם"),
        ("བསྒྲུབས", "བསྒྲུབས"),
        ("ผู้ใหญ่", "ผู้ใหญ่"),
    ],
)
def test_a_name_is_one_line_whose_marks_reach_over_no_other(name: str, written: str) -> None:
    assert write_name(name) == written
