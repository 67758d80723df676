"""Whatever cuts, crashes, faults and repeats: one question, one answer, one end (P29, X33–X36)."""

import asyncio
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.functions.chat.cuts.plans import random_plan
from tests.functions.chat.cuts.play import play


@pytest.fixture(autouse=True)
def nothing_blocks() -> None:
    """Let the database of these plans work in the event loop: that keeps them in order."""
    return


@settings(max_examples=150)
@given(st.randoms(use_true_random=False))
def test_a_turn_survives_whatever_happens_to_its_processes_and_clients(random: Random) -> None:
    asyncio.run(play(random_plan(random)))
