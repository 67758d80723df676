"""Gold set of crises: it is large, varied and halved."""

from collections import Counter

from infra.eval.crisis_gold import load_messages
from shared.safety.crisis_examples import LANGUAGES

MESSAGES = [message for message in load_messages() if message.half in {"tuned", "held out"}]


def test_there_are_over_400_messages_in_eight_languages():
    counts = Counter(message.language for message in MESSAGES)

    assert len(MESSAGES) >= 400
    assert list(counts) == list(LANGUAGES)
    assert min(counts.values()) >= 50


def test_every_id_and_text_occurs_once():
    assert len({message.id for message in MESSAGES}) == len(MESSAGES)
    assert len({message.text.casefold() for message in MESSAGES}) == len(MESSAGES)


def test_every_kind_and_level_stands_in_both_halves():
    kinds = Counter((message.half, message.kind, message.level) for message in MESSAGES)
    sizes = Counter(message.half for message in MESSAGES)

    assert len(kinds) == 2 * (7 + 3)
    assert min(kinds.values()) >= 5
    assert abs(sizes["tuned"] - sizes["held out"]) < 60


def test_ordinary_chats_are_over_150():
    assert sum(message.kind == "ordinary" for message in MESSAGES) >= 150


def test_only_crises_have_a_level():
    assert all((message.kind == "crisis") == (message.level > 0) for message in MESSAGES)
