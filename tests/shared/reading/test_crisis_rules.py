"""Crisis rules: what they call certain, and what counts where nobody else judges (C44)."""

from dataclasses import replace

import pytest

from infra.eval.crisis_gold import load_messages
from shared.data.search.question_meaning import QuestionMeaning
from shared.reading.crisis_rules import CrisisFinding, find_crisis
from shared.reading.crisis_verdict import (
    DOUBTFUL_DANGER,
    PLAIN_DANGER,
    add_danger,
    judge_alone,
)

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
        ("I'm going to kill myself tonight.", "en"),
        ("I'm going to kill myself right now", "en"),
        ("I'm going to kill myself\nplease help", "en"),
        ("I'm going to kill myself 😔", "en"),
        ("Nobody cares and tonight I'm going to kill myself, goodbye", "en"),
        ("Je vais me tuer ce soir", "fr"),
        ("Sí, me voy a matar hoy", "es"),
        ("eu vou me matar hoje", "pt"),
        ("私は今夜死にます\nありがとう", "ja"),
        ("我今晚去死，再见", "zh"),
    ],
)
def test_a_plain_statement_of_intent_is_certain_c44(text: str, language: str):
    assert find_crisis(text) == replace(CERTAIN, language=language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I'm going to kill myself if this build fails again. Look at it!", "en"),
        ("If this build fails once more I'm going to kill myself.", "en"),
        ("If this build fails once more, I'm going to kill myself", "en"),
        ("I don't think I'm going to kill myself", "en"),
        ("How do I respond when my son texts I'm going to kill myself?", "en"),
        ("Why do people say, I'm going to kill myself?", "en"),
        ("My son writes: I'm going to kill myself", "en"),
        ("I'm going to kill myself 😂", "en"),
        ("Wenn das noch einmal scheitert, werde ich sauer und ich werde mich umbringen", "de"),
    ],
)
def test_a_statement_amid_other_words_is_in_doubt_c44(text: str, language: str):
    assert find_crisis(text) == CrisisFinding(certainty="unsure", level=3, language=language)


@pytest.mark.parametrize(
    "text",
    [
        "I'm going to kill myself laughing",
        "Ich werde mich umbringen vor Lachen 😂",
        "vou me matar de rir",
        "Quiero morir de risa",
    ],
)
@pytest.mark.parametrize(("danger", "level"), [(0.1, 0), (DOUBTFUL_DANGER, 0), (PLAIN_DANGER, 2)])
def test_laughter_brings_people_to_call_alone_unless_examples_see_danger_c44(
    text: str, danger: float, level: int
):
    verdict = judge_alone(add_danger(find_crisis(text), QuestionMeaning(kinds={}, danger=danger)))

    assert (verdict.level, verdict.adds_contacts) == (level, not level)


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("I don't think I can go on, maybe I'm going to kill myself", 3),
        ("I'm going to kill myself laughing. No. I'm going to end my life because of it", 3),
        ("I want to die", 2),
    ],
)
@pytest.mark.parametrize("danger", [0.1, 1.0])
def test_what_rules_doubt_keeps_its_level_where_nobody_reads_it_c44(
    text: str, level: int, danger: float
):
    verdict = judge_alone(add_danger(find_crisis(text), QuestionMeaning(kinds={}, danger=danger)))

    assert (verdict.level, verdict.adds_contacts) == (level, False)


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
