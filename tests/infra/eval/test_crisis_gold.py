"""Held-out messages of people in danger: varied, in eleven languages, and no examples of the product (G1)."""

from collections import Counter

from infra.eval.crisis_gold import load_messages
from shared.safety.crisis_examples import list_examples

MESSAGES = load_messages()
UNSEEN = [message for message in MESSAGES if message.half == "unseen"]


def test_over_240_messages_in_eleven_languages_are_held_out_g1():
    counts = Counter(message.language for message in UNSEEN)

    assert len(UNSEEN) >= 240
    assert len(counts) == 11
    assert min(counts.values()) >= 20
    assert {message.level for message in UNSEEN} == {0, 1, 2, 3}


def test_no_message_occurs_twice_or_is_an_example_g1():
    texts = {message.text.casefold() for message in MESSAGES}

    assert len(texts) == len({message.id for message in MESSAGES}) == len(MESSAGES)
    assert texts.isdisjoint(text.casefold() for _, text in list_examples())
