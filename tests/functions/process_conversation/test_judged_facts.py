"""Judged facts: what follows from its proof passes, and little else (proofs.json, in 25 languages)."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from functions.process_conversation.processing.judged_facts import does_follow
from shared.adapters.embedded.local_embedder import load_encoder
from shared.data.search.question_meaning import QuestionMeanings
from shared.domain.ids import UserId
from shared.retrieval.proof import names_other_numbers
from tests.fixtures.encoder import needs_encoder

PROOFS: Mapping[str, Sequence[Sequence[str]]] = json.loads(
    Path(__file__).with_name("proofs.json").read_text("utf-8")
)
"""Pairs that `set` the figures and pairs `held` from that: language, proof, fact; and pairs of which no fact follows: why, language, proof, fact."""


@cache
def load() -> Any:
    return load_encoder(threads=1)


@cache
def encode(text: str) -> Sequence[float]:
    vector: list[float] = load().query([text])[0].tolist()
    return vector


async def encode_beside(_: UserId, text: str, /) -> Sequence[float]:
    return await to_thread.run_sync(encode, text)


async def count(pairs: Sequence[tuple[str, str, str]]) -> float:
    """Return the share of facts that pass."""
    meanings = QuestionMeanings(encode_beside)
    passed = [
        await does_follow(meanings, UserId("ada"), fact, said, is_english=language == "en")
        for language, said, fact in pairs
    ]
    return sum(passed) / len(passed)


@needs_encoder
async def test_a_fact_that_follows_passes_in_whatever_language_i1() -> None:
    held = [(language, said, fact) for language, said, fact in PROOFS["held"]]

    assert await count(held) >= 0.95


@needs_encoder
@pytest.mark.parametrize(("languages", "most"), [(("en",), 0.05), (("de", "fr", "es"), 0.21)])
async def test_a_fact_of_another_matter_does_not_pass_i1(languages: Any, most: float) -> None:
    rows = [row for row in (*PROOFS["set"], *PROOFS["held"]) if row[0] in languages]
    crossed = [
        (language, said, fact)
        for n, (language, said, _) in enumerate(rows)
        for *_, fact in (rows[(n + step) % len(rows)] for step in (3, 4))
    ]

    assert await count(crossed) <= most


@needs_encoder
@pytest.mark.parametrize(("why", "most"), [("number", 0.0), ("negation", 0.25)])
async def test_a_fact_that_says_another_number_or_the_opposite_does_not_pass_i1(
    why: str, most: float
) -> None:
    pairs = [
        (language, said, fact) for kind, language, said, fact in PROOFS["other"] if kind == why
    ]

    assert await count(pairs) <= most


@pytest.mark.parametrize(
    ("said", "fact", "differs"),
    [
        ("I pay 900 euros", "User pays 1900 euros", True),
        ("I pay 1,900 euros", "User pays 1900 euros", False),
        ("ich zahle 1.900 €", "User zahlt 1900 €", False),
        ("I take it at 6 pm", "User takes it at 18:00", False),
        ("عمري ٣٠ سنة", "User is 30 years old", False),
        ("I have two cats", "User has 2 cats", False),
        ("I have 2 cats", "User has cats", False),
        ("", "User has 2 cats", False),
        ("9" * 5_000, "User has 2 cats", True),
    ],
)
def test_numbers_in_digits_are_those_that_were_said_g3(
    said: str, fact: str, *, differs: bool
) -> None:
    assert names_other_numbers(said, fact) is differs
