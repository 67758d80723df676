"""Crash simulation: one question has one answer and one end, whatever fails (P29, X33-X36)."""

import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.functions.chat.crash_simulation.plans import draw_plan
from tests.functions.chat.crash_simulation.play import check_plan


@pytest.fixture(autouse=True)
def forbid_blocking_calls() -> None:
    """Allow the simulation's database in the event loop, which keeps its steps in order."""
    return


@given(st.randoms(use_true_random=False))
def test_a_turn_survives_random_crashes_faults_and_disconnects(random: Random) -> None:
    asyncio.run(check_plan(draw_plan(random)))
