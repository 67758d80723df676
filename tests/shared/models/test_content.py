"""Content of an answer: thoughts, calls and control text apart from its words, however it is cut."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.models.model import ReasoningDelta, TextDelta, TextWithdrawn
from shared.models.content import ContentReader

SEARCH = "search_conversations"
CALL = f'{{"name": "{SEARCH}", "arguments": {{"query": "plumber"}}}}'
PIECES = st.sampled_from(
    [
        "The plumber",
        " comes",
        "\n",
        "[1]",
        "`",
        "<",
        "<think>",
        "</think>",
        "<tool_call>",
        CALL,
        "</tool_call>",
        "<|im_end|>",
        "</s>",
        "{",
        "İ",
        "analysis",
        "A",
        "assistantfinal",
    ]
)


def _read(
    pieces: Sequence[str], *, names: Sequence[str] = (SEARCH,), **options: object
) -> tuple[str, str, list[tuple[str, str]]]:
    """Return the words, the thoughts and the calls of an answer."""
    reader = ContentReader(names=names, **options)  # type: ignore[arg-type]  # its options, by name
    text = thought = ""
    for event in [*(e for piece in pieces for e in reader.feed(piece)), *reader.flush()]:
        match event:
            case TextDelta(piece):
                text += piece
            case ReasoningDelta(piece):
                thought += piece
            case TextWithdrawn():
                text, thought = "", thought + text
    return text, thought, [(call.name, call.arguments) for call in reader.calls]


@given(st.lists(PIECES, max_size=12), st.integers(1, 9))
def test_an_answer_reads_the_same_however_it_is_cut_n1(pieces: list[str], size: int) -> None:
    answer = "".join(pieces)
    cut = [answer[start : start + size] for start in range(0, len(answer), size)]

    assert _read(cut) == _read([answer])


@given(st.text(st.characters(blacklist_characters="<[{`◁af", blacklist_categories=["Cs"])))
def test_words_without_marks_come_as_they_are_n1(text: str) -> None:
    assert _read(list(text)) == (text, "", [])


@pytest.mark.parametrize(
    "text",
    [
        "Write `<think>` before it and `</think>` after it.",
        'The tag "</think>" ends a thought.',
        "Say `<tool_call>` and the name.",
        "<b>bold</b> and <thinker>",
        "a < b, [1], {x} and </s> within",
    ],
)
def test_an_answer_about_marks_keeps_them_n1(text: str) -> None:
    assert _read(list(text)) == (text, "", [])


def test_a_call_that_was_given_to_the_model_stays_its_quotation() -> None:
    """A text of somebody else, repeated, must not become an act."""
    answer = f"<tool_call>\n{CALL}\n</tool_call>"
    is_quoted: Callable[[str], bool] = lambda text: text in f"Mail: {answer}"  # noqa: E731 - read once

    assert _read([answer]) == ("", "", [(SEARCH, '{"query": "plumber"}')])
    assert _read([answer], is_quoted=is_quoted) == (answer, "", [])


def test_a_call_of_a_tool_that_was_not_offered_is_text_n1() -> None:
    answer = f"<tool_call>\n{CALL}\n</tool_call>"

    assert _read([answer], names=["another"]) == (answer, "", [])
    assert _read([answer], names=[]) == (answer, "", [])


def test_a_model_known_to_think_first_shows_no_word_of_it_n1() -> None:
    assert _read(["Hm, ", "</thi", "nk>\n\nTuesday."], thinks_first=True) == (
        "Tuesday.",
        "Hm, ",
        [],
    )
    text, _, _ = _read(["Tues", "day."], thinks_first=True)
    assert text == "Tuesday."


@pytest.mark.parametrize(
    "mark", ["<|im_end|>", "</think>", "functools[", "[TOOL_CALLS]", "<end_of_turn>"]
)
def test_words_of_an_answer_that_breaks_off_are_all_shown_n1(mark: str) -> None:
    for length in range(len(mark)):
        reader = ContentReader(names=[SEARCH])
        shown = [*reader.feed(f"The house o{mark[:length]}"), *reader.give_up()]

        assert shown == [*map(TextDelta, filter(None, ("The house o", mark[:length])))]


def test_half_a_call_of_an_answer_that_breaks_off_is_not_shown_n1() -> None:
    reader = ContentReader(names=[SEARCH])
    shown = [*reader.feed(f"Wait. <tool_call>{CALL[:20]}"), *reader.give_up()]

    assert shown == [TextDelta("Wait. ")]
