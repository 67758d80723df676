"""Figures of a user's library, added up by the store from its conversations and memories.

Also called: analytics, statistics, aggregates.
"""

from asyncio import gather

from shared.domain.conversations.figures import ConversationFigures, LibraryFigures, Span
from shared.domain.ids import UserId
from shared.domain.store.documents import Query, Where
from shared.ports import Documents

_SUMMED = ("figures.seconds", "figures.words", "figures.insights")


class Figures:
    """Nothing is counted up when something is written: a repeated or late event cannot count twice."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def load(self, uid: UserId, span: Span) -> LibraryFigures:
        """Return what was recorded in a span of time; what was deleted does not count."""
        begun = _build_query(f"users/{uid}/conversations", "started_at", span)
        remembered = _build_query(f"users/{uid}/memories", "created_at", span)
        (seconds, words, insights), memories = await gather(
            self._documents.sum(begun, _SUMMED), self._documents.count(remembered)
        )
        conversations = ConversationFigures(seconds=seconds, words=words, insights=insights)
        return LibraryFigures(conversations=conversations, memories=memories)


def _build_query(collection: str, field: str, span: Span) -> Query:
    return Query(
        collection=collection, where=(Where(field, ">=", span.begin), Where(field, "<", span.end))
    )
