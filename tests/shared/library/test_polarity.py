"""Polarity: a quotation that denies proves no statement that affirms (M122)."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from anyio import to_thread

from shared.adapters.embedded.local_embedder import load_encoder
from shared.data.search.question_meaning import QuestionMeanings
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from shared.library.polarity import is_of_one_polarity
from shared.ports import EncodeQuestion
from shared.retrieval.denials import list_examples, load_table
from shared.retrieval.proof import find_bearing_clause
from tests.fixtures.encoder import needs_encoder

QUIT, WORKS, LEFT = "I quit my job at Siemens", "User works at Siemens", "User left Siemens"
POLARITIES = {QUIT: "denies", WORKS: "affirms", LEFT: "denies"}


def _load_vectors() -> Mapping[str, Sequence[float]]:
    """Return the vector of one example of each polarity."""
    with np.load(load_table().file) as stored:
        vectors = stored["vectors"].tolist()
    return dict(zip([polarity for polarity, _ in list_examples()], vectors, strict=True))


VECTORS = _load_vectors()


def read_as(polarities: Mapping[str, str]) -> EncodeQuestion:
    """Make an encoder to which texts are like an example of their polarity."""

    async def encode(_: UserId, text: str, /) -> Sequence[float]:
        return VECTORS[polarities[text]]

    return encode


@pytest.mark.parametrize(("statement", "agrees"), [(WORKS, False), (LEFT, True)])
async def test_a_quotation_that_denies_proves_no_statement_that_affirms_m122(
    statement: str, *, agrees: bool
) -> None:
    meanings = QuestionMeanings(read_as(POLARITIES))

    assert await is_of_one_polarity(meanings, UserId("ada"), QUIT, statement) is agrees


async def fail(_: UserId, __: str, /) -> Sequence[float]:
    raise ModelFailed("no")


@pytest.mark.parametrize("encode", [None, fail])
async def test_without_an_encoder_the_words_decide_m122(encode: EncodeQuestion | None) -> None:
    assert await is_of_one_polarity(QuestionMeanings(encode), UserId("ada"), QUIT, WORKS)


@cache
def _load_encoder() -> Any:
    return load_encoder(threads=1)


def _encode(text: str) -> Sequence[float]:
    vector: list[float] = _load_encoder().query([text])[0].tolist()
    return vector


UNSEEN = {
    ("answer briefly when I drive", "Answer briefly."): True,
    ("no more jokes please", "Do not make jokes."): True,
    ("I'm allergic to cats", "User is allergic to cats"): True,
    ("remind me to cancel the newspaper", "Cancel the newspaper"): True,
    ("stop the paper delivery in May", "Stop the paper delivery"): True,
    ("I moved to Leeds. I don't smoke.", "User moved to Leeds"): True,
    ("Ich esse kein Fleisch", "User isst kein Fleisch"): True,
    ("j'habite à Nantes maintenant", "User habite à Nantes"): True,
    ("repair the broken fence", "Repair the broken fence"): True,
    ("I love pottery", "pottery"): True,
    ("don't forget to buy milk", "Buy milk"): True,
    ("don't let me forget the passport", "Take the passport"): True,
    ("I can't stand jokes in answers", "Make jokes in answers."): False,
    ("I gave up pottery", "pottery"): False,
    ("I used to live in Leeds", "User lives in Leeds"): False,
    ("I sold my boat in May", "User has a boat"): False,
    ("I refuse to lend Tom the car", "Lend Tom the car"): False,
    ("Ich habe das Klavierspielen aufgegeben", "Klavierspielen"): False,
    ("dejé de jugar al tenis", "User juega al tenis"): False,
}


@needs_encoder
@pytest.mark.parametrize(("pair", "agrees"), UNSEEN.items())
async def test_unseen_quotations_are_told_from_those_that_deny_m122(
    pair: tuple[str, str], *, agrees: bool
) -> None:
    async def encode(_: UserId, text: str, /) -> Sequence[float]:
        return await to_thread.run_sync(_encode, text)

    meanings = QuestionMeanings(encode)

    assert await is_of_one_polarity(meanings, UserId("ada"), *pair) is agrees


@pytest.mark.parametrize(
    ("quote", "clause"),
    [
        ("I quit smoking. I live in Bonn, and dance", " I live in Bonn"),
        ("I live in Bonn", "I live in Bonn"),
        ("...", "..."),
        ("我住在柏林。我不吸烟", "我住在柏林"),
    ],
)
def test_the_clause_that_speaks_of_a_statement_is_compared_m122(quote: str, clause: str) -> None:
    statement = "我住在柏林" if quote.startswith("我") else "User lives in Bonn"

    assert find_bearing_clause(quote, statement) == clause
