"""Bin entry: what its owner threw away in the console, kept whole for thirty days.

Also called: trash, recycle bin, recently deleted.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from shared.domain.ids import ConversationId, MemoryId
from shared.domain.value import value

BIN_TTL = timedelta(days=30)
BinKind = Literal["conversations", "memories", "action_items"]
"""Kinds are named as their collections are."""
KINDS = get_args(BinKind)
PartKind = Literal["memories", "action_items", "recordings"]
"""What goes with a conversation, and comes back with it."""


@value
class BinEntry:
    """A record that was moved out of its collection, `record` as it stood there.

    After `due_at`, UTC, it is deleted. What a conversation took along names it as `taken_by` and is due
    with it: it has no time of its own. `corrected` are the memories that it had corrected, and since when.
    """

    kind: BinKind | PartKind
    record_id: str
    title: str
    binned_at: datetime
    due_at: datetime | None = None
    taken_by: ConversationId | None = None
    corrected: Mapping[MemoryId, datetime | None] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.kind}-{self.record_id}"
