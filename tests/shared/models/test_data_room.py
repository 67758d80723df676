"""Room for data: it follows the window of the model, and is halved by what is refused for its length."""

import pytest

from shared.domain.errors import ModelFailed
from shared.domain.models.model import ModelFacts
from shared.models.data_room import LEAST_TOKENS, DataRoom
from tests.fakes import ScriptedModel

TOO_LONG = ModelFailed("no", reason="too_long")
DOUBT = ModelFailed("no", reason="other", may_be_too_long=True)


def build_room(window=10_000, max_tokens=100_000):
    model = ScriptedModel(facts=ModelFacts(window_tokens=window))
    return DataRoom(model, "reader", max_tokens=max_tokens), model


def test_the_room_follows_the_window_as_it_becomes_known():
    room, model = build_room()
    before = room.compute("Read.", 1_000)

    model.facts = ModelFacts(window_tokens=4_000)

    assert 8_000 < before < 9_000
    assert 2_500 < room.compute("Read.", 1_000) < 3_000


def test_a_refusal_for_length_halves_all_that_follows():
    room, _ = build_room()

    room.halve(6_000, TOO_LONG)

    assert room.compute("Read.", 1_000) == 3_000


def test_a_doubt_halves_once():
    room, _ = build_room()
    room.halve(6_000, DOUBT)

    with pytest.raises(ModelFailed):
        room.halve(3_000, DOUBT)
    room.halve(3_000, TOO_LONG)

    assert room.compute("Read.", 1_000) == 1_500


def test_other_failures_are_raised():
    room, _ = build_room()

    for error in (ModelFailed("no", reason="no_quota"), ModelFailed("no")):
        with pytest.raises(ModelFailed):
            room.halve(6_000, error)


def test_an_answer_that_may_be_cut_by_a_small_window_halves_what_it_is_about():
    room, _ = build_room(window=4_000)
    assert room.compute("Read.", 8_000) > 2_000

    room.halve(2_000, ModelFailed("no JSON"))

    assert room.compute("Read.", 8_000) == 1_000
    with pytest.raises(ModelFailed):
        room.halve(1_000, ModelFailed("no JSON"))


def test_halving_ends_whatever_is_asked():
    room, _ = build_room(max_tokens=1_500)
    room.halve(1_400, TOO_LONG)
    room.halve(700, TOO_LONG)
    room.halve(350, TOO_LONG)

    with pytest.raises(ModelFailed):
        room.halve(LEAST_TOKENS + 50, TOO_LONG)
