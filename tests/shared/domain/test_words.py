"""Words: counting, truncating and normalising."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.words import count_words, normalise, truncate_words


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), (" … — !", 0), ("one two", 2), ("it's twenty-one", 2), ("a, b. c!", 3), ("会議です", 4), ("über 3,5 km", 3)],
)  # fmt: skip
def test_words_are_counted_in_every_script(text, count):
    assert count_words(text) == count


@given(st.text(), st.integers(1, 20))
def test_truncated_text_never_exceeds_the_word_limit(text, limit):
    short = truncate_words(text, limit)

    assert len(short.split()) <= limit
    assert " ".join(text.split()).startswith(short)


def test_normalise_ignores_case_and_punctuation():
    assert normalise("User lives in BERGEN!") == normalise(" user lives, in bergen")
