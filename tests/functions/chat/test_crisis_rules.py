"""Crisis rules: what they call certain, and what counts where nobody else judges (C44)."""

from dataclasses import replace

import pytest

from functions.chat.safety.crisis_rules import CrisisFinding, find_crisis
from infra.eval.crisis_gold import load_messages

CERTAIN = CrisisFinding(certainty="certain", level=3, language="en")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I'm going to kill myself", "en"),
        ("i’m  GOING to\nkill myself.", "en"),
        ("Ich werde mich töten", "de"),
        ("me voy a suicidar", "es"),
        ("Ich werde mich to\u0308ten", "de"),
        ("我今晚就去死", "zh"),
        ("今夜死にます", "ja"),
    ],
)
def test_a_plain_statement_of_intent_is_certain_c44(text: str, language: str):
    assert find_crisis(text) == replace(CERTAIN, language=language)


@pytest.mark.parametrize(
    ("text", "language"), [("I want to die", "en"), ("Quiero morir", "es"), ("死にたい", "ja")]
)
def test_a_plain_wish_counts_where_nobody_else_judges_c44(text: str, language: str):
    assert find_crisis(text) == CrisisFinding(certainty="unsure", level=2, language=language)


@pytest.mark.parametrize(
    "text",
    [
        'She writes: "I\'m going to kill myself"',
        "Er sagt: „Ich werde mich umbringen“",
        "",
        "Water the ferns",
        "明日の予定は?",
        "Сегодня дождь",
    ],
)
def test_any_other_text_is_clear_c44(text: str):
    assert find_crisis(text) == CrisisFinding()


@pytest.mark.parametrize(
    "text",
    [
        'I\'m going to kill myself. My mum said "fine".',
        "Ich werde mich umbringen. Er sagt „gut“.",
        'I am going to kill myself "today',
    ],
)
def test_words_of_others_hide_no_statement_c44(text: str):
    assert find_crisis(text).level == 3


def test_no_rule_finds_anything_in_an_ordinary_message_c44():
    ordinary = [message.text for message in load_messages() if not message.level]

    assert {find_crisis(text).certainty for text in ordinary} == {"clear"}
