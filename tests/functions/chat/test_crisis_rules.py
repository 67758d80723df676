"""Crisis rules: what they call certain, and what counts where nobody else judges (C44)."""

from dataclasses import replace

import pytest

from functions.chat.safety.crisis_rules import CrisisFinding, find_crisis
from functions.chat.safety.crisis_verdict import DOUBTFUL_DANGER, add_danger, judge_alone
from infra.eval.crisis_gold import load_messages
from shared.data.search.question_meaning import QuestionMeaning

CERTAIN = CrisisFinding(certainty="certain", level=3, language="en")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I'm going to kill myself", "en"),
        ("i’m  GOING to\nkill myself.", "en"),
        ("Ich werde mich töten", "de"),
        ("me voy a suicidar", "es"),
        ("Ich werde mich to\u0308ten", "de"),
        ("The build failed again; I'm going to kill myself… goodbye", "en"),
        ("我今晚就去死", "zh"),
        ("今夜死にます", "ja"),
    ],
)
def test_a_plain_statement_of_intent_is_certain_c44(text: str, language: str):
    assert find_crisis(text) == replace(CERTAIN, language=language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I'm going to kill myself laughing", "en"),
        ("I'm going to kill myself if this build fails again. Look at it!", "en"),
        ("Ich werde mich umbringen vor Lachen 😂", "de"),
        ("vou me matar de rir", "pt"),
    ],
)
def test_a_statement_that_goes_on_is_in_doubt_c44(text: str, language: str):
    assert find_crisis(text) == CrisisFinding(certainty="unsure", level=3, language=language)


@pytest.mark.parametrize(("danger", "level"), [(0.1, 0), (DOUBTFUL_DANGER, 3), (1.0, 3)])
def test_a_doubt_that_no_example_shares_brings_people_to_call_alone_c44(danger: float, level: int):
    finding = CrisisFinding(certainty="unsure", level=3, language="en")
    meaning = QuestionMeaning(kinds={}, danger=danger)

    verdict = judge_alone(add_danger(finding, meaning))

    assert (verdict.level, verdict.adds_contacts) == (level, not level)


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
