"""Conversation key: what lists sort and filter by, and the filter of a list; pure."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from shared.domain.conversations.conversation import ConversationStatus
from shared.domain.ids import ConversationId, FolderId
from shared.domain.value import value

LISTED_STATUSES = ("processing", "completed")
Position = tuple[datetime, ConversationId]
"""Where a conversation stands in lists. Of two, the greater one was created later."""


class Facets(NamedTuple):
    """What lists filter by, but for the time."""

    status: ConversationStatus = "processing"
    discarded: bool = False
    starred: bool = False
    folder_id: FolderId | None = None


class ConversationKey(NamedTuple):
    """A conversation as lists see it. A named tuple, because thousands are made for one list."""

    position: Position
    facets: Facets

    @property
    def id(self) -> ConversationId:
        return self.position[1]


@value
class KeyPage:
    """Keys of one document: those from `oldest` on that are older than the pages before it.

    `text_hash` is the hash of what is stored, `counts` say how many keys have which facets.
    """

    number: int
    text_hash: str
    oldest: Position
    counts: Mapping[Facets, int]


@value
class ConversationFilter:
    """The conversations of a list; None is any. `start` and `end` are included, over `created_at`.

    With `before`, only what was created before that position.
    """

    statuses: Collection[str] = LISTED_STATUSES
    discarded: bool | None = False
    starred: bool | None = None
    folder_ids: Collection[FolderId] | None = None
    start: datetime | None = None
    end: datetime | None = None
    before: Position | None = None

    def select(self, keys: Sequence[ConversationKey]) -> list[ConversationKey]:
        return [key for key in keys if self._spans(key.position) and self.matches(key.facets)]

    def count(self, page: KeyPage, newest: Position | None) -> int | None:
        """Count what it selects of a page by its counts alone; None where its times divide the page.

        `newest` is the oldest position of the page before, None for the first.
        """
        if not (self._spans(page.oldest) and self._reaches(newest)):
            return 0 if self._is_too_late(page.oldest) or self._is_too_early(newest) else None
        return sum(n for facets, n in page.counts.items() if self.matches(facets))

    def matches(self, facets: Facets) -> bool:
        return (
            facets.status in self.statuses
            and (self.discarded is None or self.discarded == facets.discarded)
            and (self.starred is None or self.starred == facets.starred)
            and (self.folder_ids is None or facets.folder_id in self.folder_ids)
        )

    def _spans(self, position: Position) -> bool:
        return not (self._is_too_early(position) or self._is_too_late(position))

    def _reaches(self, newest: Position | None) -> bool:
        """Tell whether everything older than this is early enough."""
        has_end = self.end is not None or self.before is not None
        return not has_end if newest is None else not self._is_too_late(newest)

    def _is_too_late(self, position: Position) -> bool:
        return (self.end is not None and position[0] > self.end) or (
            self.before is not None and position >= self.before
        )

    def _is_too_early(self, position: Position | None) -> bool:
        return self.start is not None and position is not None and position[0] < self.start
