"""Followers of answers in this process: an answer is followed by a bounded number at once."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar
from weakref import WeakSet

from shared.domain.errors import QuotaExceeded
from shared.domain.ids import RunId, UserId

T = TypeVar("T")

MAX_FOLLOWERS = 20
"""Maximum of connections that follow one answer in one process."""
RETRY_AFTER_S = 5


class _Follower:
    """A connection that follows; gone as soon as nobody refers to it."""


class Followers:
    """Connections that follow an answer, by owner and run.

    A connection counts until its stream ends, or is dropped before it began.
    """

    def __init__(self) -> None:
        self._followers: dict[tuple[UserId, RunId], WeakSet[_Follower]] = {}

    def admit(
        self, uid: UserId, run_id: RunId, events: AsyncGenerator[T, None]
    ) -> AsyncGenerator[T, None]:
        """Return `events`, counted as a follower. Raises QuotaExceeded beyond MAX_FOLLOWERS."""
        followers = self._followers.setdefault((uid, run_id), WeakSet())
        if len(followers) >= MAX_FOLLOWERS:
            raise QuotaExceeded(
                f"{MAX_FOLLOWERS} connections follow this answer already. "
                "It continues as soon as one of them ends.",
                policy="concurrent-followers",
                limit=MAX_FOLLOWERS,
                retry_after_s=RETRY_AFTER_S,
            )
        follower = _Follower()
        followers.add(follower)
        return self._follow((uid, run_id), follower, events)

    async def _follow(
        self, key: tuple[UserId, RunId], follower: _Follower, events: AsyncGenerator[T, None]
    ) -> AsyncGenerator[T, None]:
        try:
            async with aclosing(events):
                async for event in events:
                    yield event
        finally:
            self._remove(key, follower)

    def _remove(self, key: tuple[UserId, RunId], follower: _Follower) -> None:
        followers = self._followers.get(key)
        if followers is not None:
            followers.discard(follower)
            if not followers:
                del self._followers[key]
