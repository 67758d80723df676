"""Suggested questions: what a speaker is asked about."""

from dataclasses import replace

from functions.library.welcome.suggested_questions import ask_about_people
from shared.domain.conversations.conversation import Topics
from tests.functions.chat.library import build_conversation


def test_nobody_is_asked_about_a_word_that_says_nothing():
    said = build_conversation(
        1, "Die Heizung ist kalt.", "Ich schicke morgen jemanden für die Heizung."
    )
    talk = replace(said, topics=Topics(topics=("ich", "heizung")))

    assert next(ask_about_people([talk], None)) == "What did Ann say about heizung?"
    assert next(ask_about_people([talk], "de")) == "Was hat Ann über „heizung“ gesagt?"
