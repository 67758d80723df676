"""Polarity: a quotation that denies proves no statement that affirms (M122)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from functions.chat.consent.polarity import is_of_one_polarity
from shared.data.search.question_meaning import QuestionMeanings
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from shared.ports import EncodeQuestion
from shared.retrieval.denials import list_examples, load_table

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
