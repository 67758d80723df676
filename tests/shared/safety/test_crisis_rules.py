"""Crisis rules: what they call certain, unsure and clear, and their figures on the gold set."""

from dataclasses import replace

import pytest

from infra.eval.crisis import (
    count_findings,
    list_false_alarms,
    list_misses,
    render_judged,
    render_table,
)
from infra.eval.crisis_gold import load_messages
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.adapters.silent_moderator import SilentModerator
from shared.safety.crisis_rules import CrisisFinding, find_crisis
from tests.fakes import UnmaskedModels

MESSAGES = load_messages()
CERTAIN = CrisisFinding(certainty="certain", level=3, is_own=True, is_plain=True, language="en")


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
    "text", ['She writes: "I\'m going to kill myself"', "Er sagt: „Ich werde mich umbringen“"]
)
def test_a_quoted_statement_is_unsure_c44(text: str):
    assert find_crisis(text).certainty == "unsure"


@pytest.mark.parametrize("text", ["", "   ", "Water the ferns", "明日の予定は?", "42"])
def test_an_ordinary_text_is_clear_c44(text: str):
    assert find_crisis(text) == CrisisFinding()


@pytest.mark.parametrize("text", ["Сегодня дождь", "مرحبا", "안녕하세요", "γεια"])
def test_a_script_that_no_rule_reads_is_unsure_without_a_level_c44(text: str):
    assert find_crisis(text) == CrisisFinding(certainty="unsure")


def test_no_acute_crisis_of_the_tuned_half_is_missed_c44():
    acute = [m for m in MESSAGES if m.half == "tuned" and m.level == 3]

    assert count_findings(acute).caught == len(acute) >= 15


def test_a_false_alarm_is_never_raised_on_the_gold_set_c44():
    assert list(list_false_alarms(MESSAGES)) == []


def test_missed_words_are_printed_only_of_sets_for_tuning_c44():
    misses = list(list_misses(MESSAGES))

    late = [line for line in misses if ", late, " in line]
    assert late
    assert all(line.endswith(line.split()[-1]) and line.count(":") == 1 for line in late)
    assert len(list(render_table(MESSAGES))) > 20


async def test_the_gate_is_measured_with_a_model_c44():
    acute = [m for m in MESSAGES if m.half == "tuned"]

    title, tuned, *others = await render_judged(
        UnmaskedModels(model=OfflineModel()), SilentModerator(), acute
    )

    assert "offline" in title
    crises = sum(message.level >= 2 for message in acute)
    assert [int(word) for word in tuned.split()[1:5:2]] == [crises, len(acute) - crises]
    assert all(line.split()[-5:] == ["0", "0", "0", "0", "0"] for line in others)
