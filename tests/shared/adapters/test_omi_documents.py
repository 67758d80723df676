"""Documents that may be in Omi's form."""

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.omi_documents import OmiDocuments
from shared.data.store.omi_form import OmiForm
from shared.domain.store.documents import Set
from shared.ports import Documents


async def test_a_conversation_is_not_decoded_before_somebody_looks_e2(
    database: SqliteDatabase, documents: Documents
) -> None:
    """A search reads twenty of an hour each, most of which its cache holds in this version."""
    await documents.write(Set("users/alice/conversations/talk", {"visibility": "public"}))
    await database.write(lambda c: c.execute("UPDATE documents SET fields = '{'"))

    found = await OmiDocuments(documents, OmiForm()).get("users/alice/conversations/talk")

    assert found is not None
    with pytest.raises(ValueError, match="EOF"):
        found.fields["visibility"]
