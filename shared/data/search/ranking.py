"""Ranking of conversations that a search found, kept for minutes, so that its pages fit together.

Also called: result snapshot, point in time, scroll, search pagination.
"""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.data.search.library_index import SEARCHED_INDEX_VERSIONS, list_segments
from shared.data.store.codec import type_adapter
from shared.domain.errors import Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.documents import Set
from shared.domain.store.vectors import Hit
from shared.domain.value import value
from shared.ports import Documents

KEPT = timedelta(minutes=10)
_NAME_DIGITS = 2


class RankedRow(NamedTuple):
    """A row that was found: its score, higher is closer, and the hash of the content that it was made from.

    `turns` are those that it stands for, none of a summary. A named tuple, because a ranking has hundreds.
    """

    score: float
    content_hash: str
    turns: tuple[int, ...] = ()


RankedRows = Mapping[ConversationId, list[RankedRow]]
"""The rows of conversations: the best conversation first, and the best row of each."""


@value
class Ranking:
    """All that a search found; with `fallback_without_filters`, of any people and topics."""

    rows: RankedRows
    fallback_without_filters: bool = False


_RANKING = type_adapter(Ranking)


class KeptRankings:
    """Keeps the last rankings of a user, at most 256: one takes the place of another with the same first digits.

    `search` says what was looked for: the same text, the same ranking.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def find(self, uid: UserId, search: str, now: datetime) -> Ranking | None:
        """Return the ranking that was kept less than KEPT ago."""
        name = _hash(search)
        document = await self._documents.get(_build_path(uid, name))
        if document is None or document.fields["name"] != name:
            return None
        if document.fields["expires_at"] <= now:
            return None
        ranking: Ranking = _RANKING.validate_json(document.fields["ranking"])
        return ranking

    async def put(self, uid: UserId, search: str, ranking: Ranking, now: datetime) -> None:
        """Keep a ranking; while nothing can be written, its pages come from new ones."""
        name = _hash(search)
        fields = {"name": name, "ranking": _RANKING.dump_json(ranking), "expires_at": now + KEPT}
        with suppress(Unavailable):
            await self._documents.write(Set(_build_path(uid, name), fields))


def build_ranked_rows(hits: Mapping[ConversationId, Iterable[Hit]]) -> RankedRows:
    """Keep what pages are made of, without rows that no search reads any more."""
    rows = {
        name: [_to_ranked_row(hit) for hit in found if _is_searched(hit)]
        for name, found in hits.items()
    }
    return {name: ranked for name, ranked in rows.items() if ranked}


def _is_searched(hit: Hit) -> bool:
    return hit.metadata.get("index_version") in SEARCHED_INDEX_VERSIONS


def _to_ranked_row(hit: Hit) -> RankedRow:
    turns = tuple(list_segments(hit)) if hit.metadata["kind"] == "chunk" else ()
    return RankedRow(hit.score, str(hit.metadata["content_hash"]), turns)


def _hash(search: str) -> str:
    return hashlib.sha256(search.encode()).hexdigest()


def _build_path(uid: UserId, name: str) -> str:
    return f"users/{uid}/search_rankings/{name[:_NAME_DIGITS]}"
