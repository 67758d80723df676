"""Merge of conversations: one conversation takes the place of several, and for an hour they can come back."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from typing import Literal

from shared.domain.ids import ConversationId
from shared.domain.value import value

UNDO_TTL = timedelta(hours=1)
MergeState = Literal["merged", "undone", "final"]
MAX_PHOTOS = 100
MAX_FAMILY = 100
"""Conversations that one is made of, by whatever many merges."""


@value
class Merge:
    """A merge. `id` is that of the conversation that was made, `source_ids` stand as they were asked for.

    `discarded_ids` are sources that were discarded before. `moved` are recordings, and memories and
    tasks that the owner wrote or changed: by their path below the user, the source they came from.
    """

    id: ConversationId
    source_ids: tuple[ConversationId, ...]
    merged_at: datetime
    expires_at: datetime
    state: MergeState = "merged"
    discarded_ids: tuple[ConversationId, ...] = ()
    moved: Mapping[str, ConversationId] = field(default_factory=dict)

    def can_be_undone(self, now: datetime) -> bool:
        return self.state == "merged" and now < self.expires_at
