"""What a question survives on SQLite, it survives on Firestore (P29, X33–X36)."""

import asyncio
from random import Random
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.ports import Documents
from tests.functions.chat.cuts.plans import random_plan
from tests.functions.chat.cuts.play import play


@pytest.mark.emulators
def test_a_turn_survives_whatever_happens_to_its_processes_and_clients(
    firestore_emulator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator)

    @settings(max_examples=12, database=None, derandomize=True)
    @given(st.randoms(use_true_random=False))
    def check(random: Random) -> None:
        asyncio.run(on_firestore(random))

    check()


async def on_firestore(random: Random) -> None:
    await play(random_plan(random), firestore())


def firestore() -> Documents:
    from google.cloud.firestore import AsyncClient

    from shared.adapters.firestore_documents import FirestoreDocuments

    return FirestoreDocuments(AsyncClient(project=f"cuts-{uuid4().hex[:12]}"))
