import pytest
from google.cloud.firestore import AsyncClient

from infra.emulators.process import HOST, free_port
from shared.adapters.firestore_documents import FirestoreDocuments
from shared.domain.errors import Unavailable


async def test_an_emulator_that_is_not_there_is_told_at_once(monkeypatch: pytest.MonkeyPatch):
    address = f"{HOST}:{free_port()}"
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", address)
    client = AsyncClient(project="test")

    with pytest.raises(Unavailable, match=f"No Firestore emulator answers at {address}"):
        FirestoreDocuments(client)
