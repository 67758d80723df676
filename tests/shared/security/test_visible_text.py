"""Visible text: what is stripped, and what scripts and emoji need."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.security.visible_text import strip_invisible

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


@pytest.mark.parametrize(
    "text", ["❤️‍🔥 👩🏽‍🚀 🏳️‍🌈", "می‌خواهم", "क्‍ष", "葛︀城"], ids=["emoji", "persian", "hindi", "han"]
)
def test_joiners_that_scripts_and_emoji_need_are_kept(text: str) -> None:
    assert strip_invisible(text) == text


@given(st.text(alphabet="a\u200b\u200c\u200d\ufe0f\U000e0041\U000e0100"))
def test_stripping_twice_equals_stripping_once(text: str) -> None:
    assert strip_invisible(strip_invisible(text)) == strip_invisible(text)
