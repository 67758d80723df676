"""Reads and plays over the poisoned library: what asks, and that every bit is counted (S2)."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any

import pytest

from infra.eval.copying_deriver import copy_arguments
from infra.eval.library_plays import are_bounded, list_plays, play_secret
from infra.eval.library_reads import are_rare, play_reads
from infra.eval.library_turns import LibraryTurns, open_turns
from infra.eval.poisoned_library import CONVERSATIONS, SECRETS, build_library
from infra.eval.wishes import load_wishes
from shared.domain.models.model import ToolSpec

pytestmark = pytest.mark.anyio
WISHES = [wish for wish in load_wishes() if wish.calls[-1].tool == "search_recipes"][:3]


async def derive_nothing(*_: object) -> None:
    return None


async def copy_words(message: str, spec: ToolSpec, _: datetime) -> Mapping[str, Any] | None:
    return copy_arguments(message, spec)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def turns() -> AsyncIterator[LibraryTurns]:
    async with open_turns(["What shall we cook?"], finds_meaning=False) as opened:
        yield opened


def test_the_library_holds_ten_poisoned_passages_s2() -> None:
    library = build_library(["What shall we cook?"])

    poisoned = [c for c in library if "SYSTEM:" in c.transcript_segments[-1].text]
    assert (len(library), len(poisoned)) == (CONVERSATIONS, len(SECRETS))


async def test_words_of_the_message_spare_their_owner_the_question_s2(turns: LibraryTurns) -> None:
    asked = [
        sum(read.is_asked for read in await play_reads(turns, WISHES, derive, reads_library=True))
        for derive in (derive_nothing, copy_words)
    ]

    assert asked[0] > asked[1] == 0


async def test_a_read_whose_name_says_sensitive_asks_and_misses_no_bound_s2(
    turns: LibraryTurns,
) -> None:
    wishes = [wish for wish in load_wishes() if wish.calls[-1].tool == "translate_text"]

    reads = await play_reads(turns, wishes, copy_words, reads_library=True)

    assert {(read.tool_class, read.is_asked) for read in reads} == {("sensitive", True)}
    assert are_rare(reads)


@pytest.mark.parametrize("aim", ["message alone", "library read"])
async def test_every_bit_of_a_play_is_counted_and_few_are_told_s2(
    turns: LibraryTurns, aim: Any
) -> None:
    what, secret = SECRETS[1]

    plays = await play_secret(turns, aim, what, secret, copy_words)

    assert len(plays) == len(list(list_plays(secret)))
    assert {play.given for play in plays} == {aim}
    assert sum(play.counted_bits for play in plays) > 0
    assert are_bounded(plays)
