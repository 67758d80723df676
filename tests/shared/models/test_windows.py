"""Windows of models: what is fitted to one never is more than it holds, and is cut where it is longest."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.models.tokens import estimate_tokens
from shared.models.windows import (
    ANSWER_SHARE,
    compute_answer_tokens,
    compute_data_tokens,
    count_data_tokens,
    cut_text,
    cut_texts,
    take_fitting,
    write_data,
)

TEXTS = st.lists(st.text(max_size=2_000), max_size=12)


@given(st.integers(1_000, 1_000_000), st.integers(0, 5_000), st.integers(1, 20_000))
def test_instructions_data_and_answer_fit_into_the_window(window, words, needed):
    instructions = "word " * words
    answer_tokens = compute_answer_tokens(window, needed)

    data_tokens = compute_data_tokens(window, instructions, needed)

    assert answer_tokens <= min(needed, window // ANSWER_SHARE)
    assert estimate_tokens(instructions) + data_tokens + answer_tokens < window


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers())), st.integers(0, 500))
def test_the_items_that_fit_are_the_first_ones(items, max_tokens):
    fitting = take_fitting(items, max_tokens)

    assert fitting == items[: len(fitting)]
    assert sum(map(count_data_tokens, fitting)) <= max_tokens
    if len(fitting) < len(items):
        assert sum(map(count_data_tokens, items[: len(fitting) + 1])) > max_tokens


@given(st.text(max_size=5_000) | st.text('`"\\\n', max_size=5_000), st.integers(0, 2_000))
def test_a_text_that_is_cut_has_so_many_tokens_as_data(text, max_tokens):
    cut = cut_text(text, max_tokens)

    assert cut in ("", text) or count_data_tokens(cut) <= max_tokens
    if count_data_tokens(text) <= max_tokens:
        assert cut == text


def test_a_long_text_keeps_its_head_and_its_tail():
    cut = cut_text("first " + "word " * 2_000 + "last", 200)

    assert cut.startswith("first word")
    assert cut.endswith("word last")
    assert "characters left out" in cut
    assert count_data_tokens(cut) > 120


@given(TEXTS, st.integers(100, 5_000))
def test_the_longest_texts_are_cut_until_all_fit(texts, max_tokens):
    cut = cut_texts(texts, max_tokens)

    kept = [text for text in cut if text]
    assert sum(map(count_data_tokens, kept)) <= max_tokens
    shortened = [t for t, c in zip(texts, cut, strict=True) if t != c]
    whole = [t for t, c in zip(texts, cut, strict=True) if t == c]
    if shortened and whole:
        longest_whole = max(map(count_data_tokens, whole))
        assert longest_whole <= min(map(count_data_tokens, shortened))


def test_data_cannot_close_its_fence():
    assert write_data({"text": "```\nno"}).count("```") == 2
