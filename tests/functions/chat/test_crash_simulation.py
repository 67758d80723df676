"""Whatever cuts, crashes, faults and repeats: one question, one answer, one end (P29, X33–X36)."""

import asyncio
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.functions.chat.crash_simulation.plans import draw_plan
from tests.functions.chat.crash_simulation.play import play_plan


@pytest.fixture(autouse=True)
def forbid_blocking_calls() -> None:
    """Let the database of these plans work in the event loop: that keeps them in order."""
    return


@settings(max_examples=150)
@given(st.randoms(use_true_random=False))
def test_a_turn_survives_random_crashes_faults_and_disconnects(random: Random) -> None:
    asyncio.run(play_plan(draw_plan(random)))
