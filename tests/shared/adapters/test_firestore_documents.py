import pytest
from google.cloud.firestore import AsyncClient

from infra.emulators.process import HOST, find_free_port
from shared.adapters.cloud.firestore_documents import FirestoreDocuments
from shared.domain.errors import Unavailable


async def test_a_missing_emulator_raises_unavailable_at_once(monkeypatch: pytest.MonkeyPatch):
    address = f"{HOST}:{find_free_port()}"
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", address)
    client = AsyncClient(project="test")

    with pytest.raises(Unavailable, match=f"No Firestore emulator answers at {address}"):
        FirestoreDocuments(client)
