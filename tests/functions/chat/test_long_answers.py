"""Long answers: what they cost, and how late they come to who follows from another process (D11)."""

import pytest

from tests.functions.chat.long_answer import TOKENS, play_long_answer


@pytest.fixture(autouse=True)
def forbid_blocking_calls() -> None:
    """Allow the simulation's database in the event loop, which keeps its steps in order."""
    return


async def test_an_answer_costs_few_documents_while_nobody_follows_elsewhere_d11() -> None:
    played = await play_long_answer(is_followed=False)

    assert played.reads <= 10
    assert played.writes <= 14


async def test_who_follows_elsewhere_is_half_a_second_behind_d11() -> None:
    played = await play_long_answer(is_followed=True)

    assert len(played.delays_s) > 0.9 * TOKENS
    assert played.settled_delay_s <= 0.6
    assert max(played.delays_s) <= 4
