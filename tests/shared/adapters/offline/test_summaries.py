"""Summaries of chats by the offline model: quoted, never composed (P15)."""

from hypothesis import given
from hypothesis import strategies as st

from functions.chat.notes.model_outputs import SummaryOutput
from shared.adapters.embedded.offline.extractors import EXTRACTORS

SUMMARY = EXTRACTORS["chat/summary"]


def test_a_summary_keeps_recurring_lines_with_their_speakers():
    small_talk = [{"sender": "assistant", "text": f"Word{n}!"} for n in range(20)]
    messages = [
        {"sender": "owner", "text": "Hm. When is the Lisbon offsite with Ann?"},
        {"sender": "assistant", "text": "The Lisbon offsite is on Friday. Ann booked the hotel."},
        {"sender": "app", "text": "Ann moved the Lisbon offsite."},
    ]

    first = SUMMARY({"summary": "", "messages": messages})["summary"]
    second = SUMMARY({"summary": first, "messages": [*small_talk, *messages]})["summary"]

    assert first.splitlines() == [
        "Owner: Hm.",
        "Owner: When is the Lisbon offsite with Ann?",
        "Assistant: The Lisbon offsite is on Friday.",
        "Assistant: Ann booked the hotel.",
        "App: Ann moved the Lisbon offsite.",
    ]
    assert set(first.splitlines()[1:]) <= set(second.splitlines())
    assert len(second.splitlines()) == 14


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=9))
def test_every_chat_gets_a_valid_summary(old, texts):
    messages = [{"sender": "owner", "text": text} for text in texts]

    summary = SummaryOutput.model_validate(SUMMARY({"summary": old, "messages": messages})).summary

    quoted = [line.removeprefix("Owner: ") for line in summary.splitlines()]
    assert [line for line in quoted if not any(line in text for text in [old, *texts])] == []
