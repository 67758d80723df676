"""Scraps: only recordings of nothing but greetings and small words may be discarded (P27)."""

import pytest

from functions.process_conversation.processing.scraps import is_scrap


@pytest.mark.parametrize(
    "text",
    [
        "Okay. Yeah. Thanks, bye.",
        "Hello, good morning! How are you doing",
        "Good night, see you later.",
        "Um, yeah, that's right, really nice.",
        "Guten Morgen. Ja, genau.",
        "Buenas noches, gracias, hasta luego.",
        "Oui, bonne soirée, au revoir.",
        "Dzień dobry. Tak, dziękuję.",
        "好的，早上好，谢谢。",
        "…",
    ],
)
def test_greetings_and_small_words_are_a_scrap_p27(text):
    assert is_scrap([text, "Okay."])


@pytest.mark.parametrize(
    "text",
    [
        "Ja, morgen",
        "Nein, morgen Abend",
        "Sí, días",
        "Okay, later in the evening",
        "Sim, à noite",
        "好的，晚上。",
        "Okay, next week",
        "Yes, two.",
        "Ja, zwei.",
        "We'll be there",
        "We’ll be there in the morning",
        "They will do it",
        "She is going to be there",
        "I am going to be there",
        "You should have it by the evening",
        "I have to do it",
        "He has to",
        "I'm on it",
        "We can do that then",
        "Let me do it",
        "You need to do it",
        "I must do it",
        "Yes, I do.",
        "Sure, can do.",
        "Ja, doe ik.",
        "Oké, ik doe het.",
        "Please help me. I need help.",
        "Okay?",
    ],
)
def test_a_time_a_number_a_promise_and_a_call_for_help_are_content_p27(text):
    assert not is_scrap([text, "Okay."])
