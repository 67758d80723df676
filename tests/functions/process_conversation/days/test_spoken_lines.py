"""Lines that a summary cites: what it says was decided, counted or is to be done stands in them (R6)."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.library.welcome.sample_library import build_month
from functions.process_conversation.days.day_material import (
    MAX_LINES,
    DayMaterial,
    select_lines,
)
from functions.process_conversation.days.day_output import DayOutput, build_summary
from functions.process_conversation.days.decision_forms import is_decision
from functions.process_conversation.days.number_forms import find_number
from functions.process_conversation.days.spoken_lines import (
    MAX_QUOTE_CHARS,
    SpokenLine,
    find_segments,
    list_lines,
)
from functions.process_conversation.days.summarise_day import complete_day
from shared.adapters.embedded.offline.extractors import EXTRACTORS
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.conversations.daily_summary import DailySummary, find_day
from shared.domain.ids import ActionItemId
from shared.domain.tasks.action_item import ActionItem
from tests.fixtures.processing import TALK, build_test_conversation

UTC_ZONE = ZoneInfo("UTC")
NOW = datetime(2026, 6, 1, tzinfo=UTC)
MONTH = {conversation.id: conversation for conversation in build_month(NOW, UTC_ZONE)}
DECIDED = (
    "So we decided on amber lights for the harbour park.",
    "We've agreed to meet on Friday.",
    "Let's go with the oak floor.",
    "Water pump it is.",
    "Wir haben uns für die Eiche entschieden.",
    "Dann nehmen wir die Wohnung im fünften Stock.",
    "Al final hemos decidido ir en tren.",
    "Nos quedamos con el piso de Cascais.",
    "On a décidé de partir en mai.",
    "C'est décidé, on part en mai.",
    "では、木曜日に会うことにします。",
    "旅行は5月に決まりました。",
)
OPEN = (
    "Then the lighting has to be decided now.",
    "We have not decided yet.",
    "We decided nothing yet.",
    "Das haben wir noch nicht entschieden.",
    "Todavía no hemos decidido nada.",
    "On n'a pas encore décidé.",
    "まだ決めていません。",
    "Agreed.",
)
AMOUNTS = (
    "It costs 4,200 euros.",
    "$40 each.",
    "Eleven thousand four hundred pounds with the wall.",
    "A raise of six percent.",
    "Das kostet zweihundert Euro.",
    "Son ciento veinte euros.",
    "Cela coûte deux cents euros.",
    "家賃は八万円です。",
)
COUNTS = (
    "Forty-two lamps.",
    "Wir treffen uns in drei Wochen.",
    "Son doce personas.",
    "三日かかります。",
)
NO_NUMBERS = (
    "One of us is tired.",
    "Often nobody attends.",
    "Un café.",
    "Eine Frage.",
    "一人で行く。",
)


@pytest.mark.parametrize("sentence", DECIDED)
def test_what_is_decided_is_told_in_five_languages(sentence):
    assert is_decision(sentence)


@pytest.mark.parametrize("sentence", OPEN)
def test_what_is_still_open_is_no_decision(sentence):
    assert not is_decision(sentence)


def test_amounts_are_told_from_other_numbers():
    assert {sentence: find_number(sentence) for sentence in (*AMOUNTS, *COUNTS, *NO_NUMBERS)} == {
        **dict.fromkeys(AMOUNTS, "amount"),
        **dict.fromkeys(COUNTS, "count"),
        **dict.fromkeys(NO_NUMBERS),
    }


def build_talk(*texts: str) -> Conversation:
    return build_test_conversation(
        transcript_segments=tuple(Segment(text=text, speaker="Ann") for text in texts)
    )


@given(st.lists(st.text(max_size=700) | st.sampled_from((*DECIDED, *AMOUNTS, *COUNTS)), max_size=5))
def test_every_line_stands_in_its_segment(texts):
    conversation = build_talk(*texts)

    for line in list_lines(conversation):
        quoted = line.quote.removeprefix("Ann: ")
        assert len(quoted) <= MAX_QUOTE_CHARS
        said = " ".join(conversation.transcript_segments[line.segment].text.split())
        assert " ".join(quoted.split()) in said


def test_a_question_neither_decides_nor_tells_a_number():
    talk = build_talk("Have we decided on the lights? At six? 四月に決まりましたか。")

    assert [*list_lines(talk)] == []


def test_a_task_is_found_in_the_line_that_says_it():
    talk = build_talk("Good morning.", "Can you call the supplier about the lamps?", "Yes.")

    assert find_segments(["Call the supplier about lamps", "Buy bread", ""], talk) == [
        1,
        None,
        None,
    ]


def test_of_too_many_lines_decisions_and_amounts_stay():
    lines = [
        SpokenLine(conversation_id=TALK, segment=n, kind=kind, quote=str(n))
        for n in range(100)
        for kind in ("count", "amount", "decision")
    ]

    kinds = [line.kind for line in select_lines(lines)]

    assert kinds == ["decision"] * MAX_LINES + ["amount"] * MAX_LINES


def build_day(conversations: list[Conversation]) -> DayMaterial:
    """Take from the offline model what processing stores of these conversations."""
    tasks: list[ActionItem] = []
    for conversation in conversations:
        transcript = [
            {"segment": n, "speaker": s.speaker, "is_user": s.is_user, "text": s.text}
            for n, s in enumerate(conversation.transcript_segments)
        ]
        data = {
            "started_at": f"{conversation.started_at:%A %Y-%m-%dT%H:%M}",
            "time_zone": "UTC",
            "transcript": transcript,
        }
        structure = EXTRACTORS["process_conversation/extraction"](data)["structure"]
        tasks += [
            ActionItem(
                id=ActionItemId(f"{conversation.id}-{n}"),
                description=item["description"],
                created_at=NOW,
                updated_at=NOW,
                conversation_id=conversation.id,
            )
            for n, item in enumerate(structure["action_items"])
        ]
    segments = [
        segment
        for conversation in conversations
        for segment in find_segments(
            [task.description for task in tasks if task.conversation_id == conversation.id],
            conversation,
        )
    ]
    return DayMaterial(
        day=find_day(conversations[0].started_at, UTC_ZONE),
        zone=UTC_ZONE,
        language="en",
        conversations=tuple(conversations),
        tasks=tuple(tasks),
        lines=select_lines([line for each in conversations for line in list_lines(each)]),
        task_segments=tuple(segments),
    )


async def summarise_month() -> list[DailySummary]:
    days: dict[str, list[Conversation]] = {}
    for conversation in MONTH.values():
        day = find_day(conversation.started_at, UTC_ZONE).isoformat()
        days.setdefault(day, []).append(conversation)
    summaries = []
    for conversations in days.values():
        material = build_day(conversations)
        output: DayOutput = await complete_day(OfflineModel(), material)
        summaries.append(build_summary(output, material, now=NOW, is_scheduled=True))
    return summaries


async def test_every_claim_about_the_sample_month_is_said_in_the_line_it_cites():
    summaries = await summarise_month()

    notes = [note for summary in summaries for note in (*summary.decisions, *summary.numbers)]
    tasks = [task for summary in summaries for task in summary.tasks]
    for note in notes:
        assert note.conversation_id is not None
        assert note.segment is not None
        line = MONTH[note.conversation_id].transcript_segments[note.segment]
        assert note.text.removeprefix(f"{line.speaker}: ") in line.text
    assert [task.description for task in tasks if task.segment is None] == []
    assert len(tasks) >= 30


async def test_the_decisions_and_prices_of_the_sample_month_are_named():
    summaries = await summarise_month()

    decisions = " ".join(note.text for one in summaries for note in one.decisions)
    for subject in ("amber", "wall out", "water pump", "fly from Bristol", "Leeds"):
        assert subject in decisions
    numbers = " ".join(note.text for one in summaries for note in one.numbers)
    for amount in ("thousand four hundred", "six percent", "twelve hundred and sixty", "ninety"):
        assert amount in numbers.lower()
