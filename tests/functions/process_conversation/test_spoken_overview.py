"""Titles and overviews in words that were said: what is said most, never a greeting or a filler (P26)."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from functions.library.welcome.sample_library import build_month
from functions.process_conversation.processing.spoken_overview import (
    add_spoken_overview,
    build_title,
)
from infra.eval.talks import load_talks
from shared.adapters.embedded.offline.speech import is_meaningful, split_words
from shared.domain.conversations.conversation import Conversation, Segment, Structured
from shared.domain.ids import ConversationId

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
MONTH = list(build_month(NOW, ZoneInfo("UTC")))
OPENERS = ("So", "Okay", "Yeah", "Hello", "Um", "Well")


def describe(*texts: str) -> Structured:
    segments = tuple(Segment(text=text, speaker="SPEAKER_00") for text in texts)
    conversation = Conversation(
        id=ConversationId("talk"),
        created_at=NOW,
        started_at=NOW,
        finished_at=NOW,
        transcript_segments=segments,
    )
    return add_spoken_overview(Structured(), conversation)


def title_of(*lines: str) -> str:
    return describe(*(line.partition(": ")[2] for line in lines)).title


@pytest.mark.parametrize("conversation", MONTH, ids=lambda c: str(c.id))
def test_a_title_of_the_sample_library_has_two_telling_words_from_the_talk(conversation):
    lines = [f"{s.speaker}: {s.text}" for s in conversation.transcript_segments]

    title = title_of(*lines)

    said = {w.lower() for s in conversation.transcript_segments for w in split_words(s.text)}
    telling = [word for word in split_words(title) if is_meaningful(word)]
    assert len(telling) >= 2
    assert not title.startswith(OPENERS)
    assert {w.lower() for w in telling} <= said | {w.removesuffix("'s") for w in said}


@pytest.mark.parametrize("opener", OPENERS)
def test_a_greeting_or_filler_never_leads(opener):
    title = title_of(f"Ann: {opener}, the printer on the second floor is broken again.")

    assert title.startswith("Printer on the second floor")


def test_an_address_that_leads_stays_as_it_is_written():
    title = title_of("Ann: https://example.org/autumn has the calendar.")

    assert title.startswith("https://example.org/autumn")


def test_what_is_said_most_wins_over_what_is_said_first():
    talk = (
        "Ann: Hello Ben, did you sleep well after the long flight?",
        "Ben: Yes, thanks. Let us look at the parking garage.",
        "Ann: The parking garage needs a new roof before winter.",
        "Ben: A new roof costs more than the parking garage earns.",
        "Ann: The roof can be paid by the solar panels.",
        "Ben: Then the solar panels come first. I like it.",
    )

    title = title_of(*talk)

    assert "arking garage" in title
    assert "roof" in title


def test_no_word_loses_letters():
    title = title_of("Ann: Mum wants a weekend by the sea with her hand luggage.")

    assert title == "Hand luggage"


@pytest.mark.parametrize("talk", load_talks(), ids=lambda talk: talk.id)
def test_a_title_is_no_cut_phrase_in_any_language(talk):
    title = build_title([line.partition(": ")[2] for line in talk.lines])

    assert title
    assert "…" not in title


def test_a_title_names_something_where_a_central_statement_does():
    title = title_of(
        "Ann: Could you buy the train tickets to Lisbon?",
        "Alex: Sure, I will do it tonight.",
        "Ann: And the offsite moves to Friday because of the hotel.",
        "Alex: I will tell her about it tonight.",
    )

    assert title.startswith("Offsite moves to Friday")


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("I work at Fernhill Labs since June.", "Work at Fernhill Labs since June"),
        ("Ich wohne in Kassel.", "Wohne in Kassel"),
        ("I will sign the papers.", "Sign the papers"),
    ],
)
def test_a_title_begins_with_no_pronoun(line, title):
    assert title_of(f"Ann: {line}") == title


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        (
            ["So, the kitchen tiles arrived, but two boxes are broken."],
            "Kitchen tiles arrived",
        ),
        (["Yeah, okay. Well, you know, the board wants the report."], "Board wants the report"),
        (["We paint the shed on Sunday, said Ann.", "Fine."], "Paint the shed on Sunday"),
        (["Will you pay the rent?", "The rent is paid already."], "Rent is paid already"),
        (
            ["one two three four five six seven eight nine ten eleven"],
            "One two three four five six seven eight nine ten",
        ),
        (["Really?"], "Really"),
        (["明天去北京" * 40], "明天去北京" * 16),
        ([], ""),
    ],
)
def test_a_title_quotes_what_says_most_without_pronouns_and_keeps_letters(lines, title):
    assert describe(*lines).title == title


def test_an_overview_quotes_the_central_sentences_in_their_order():
    texts = [
        "Nice weather outside. The budget for the launch is tight.",
        "We cut the launch budget by ten percent. My shoes are wet.",
        "So the launch budget is settled.",
    ]

    assert describe(*texts).overview == (
        "The budget for the launch is tight. We cut the launch budget by ten percent. "
        "So the launch budget is settled."
    )
