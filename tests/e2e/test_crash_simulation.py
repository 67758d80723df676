"""Crash simulation on Firestore: a question survives there what it survives on SQLite (P29, X33–X36)."""

import asyncio
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.storage import open_firestore_documents
from tests.functions.chat.crash_simulation.plans import draw_plan
from tests.functions.chat.crash_simulation.play import check_plan


@pytest.mark.emulators
def test_a_turn_survives_random_crashes_of_processes_and_clients(
    firestore_emulator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator)

    @settings(max_examples=settings().max_examples // 5, database=None)
    @given(st.randoms(use_true_random=False))
    def check(random: Random) -> None:
        asyncio.run(check_on_firestore(random))

    check()


async def check_on_firestore(random: Random) -> None:
    with open_firestore_documents() as documents:
        await check_plan(draw_plan(random), documents)
