"""Schemas of the bin."""

from typing import Self

from shared.domain.account.bin_entry import BinEntry, BinKind
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import Utc


class BinEntryOut(Wire):
    """What was moved to the bin; after `due_at` it is deleted."""

    kind: BinKind
    id: str
    title: str
    binned_at: Utc
    due_at: Utc | None

    @classmethod
    def of(cls, entry: BinEntry) -> Self:
        return cls.model_validate(
            {
                "kind": entry.kind,
                "id": entry.record_id,
                "title": entry.title,
                "binned_at": entry.binned_at,
                "due_at": entry.due_at,
            }
        )
