"""Sign-outs: since when the tokens of a user count, after they signed out everywhere.

Also called: session revocation, log out of all devices.
"""

from collections import OrderedDict
from datetime import datetime, timedelta

from shared.domain.ids import UserId
from shared.domain.store.documents import Set
from shared.ports import Clock, Documents, Transaction

MAX_CACHED_USERS = 10_000


class SignOuts:
    """The last time that each user signed out everywhere."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def put(self, uid: UserId, ended_at: datetime) -> None:
        """Refuse tokens of before `ended_at`, a whole second, from now on; a repeat that comes late ends no session that began since."""

        async def work(tx: Transaction) -> None:
            stored = await tx.get(_path(uid))
            if stored is None or stored.fields["ended_at"] < ended_at:
                tx.write(Set(_path(uid), {"ended_at": ended_at}))

        await self._documents.transaction(work)

    async def find(self, uid: UserId) -> datetime | None:
        document = await self._documents.get(_path(uid))
        return document.fields["ended_at"] if document else None


class SignOutCache:
    """Sign-outs by user, at most `staleness` old."""

    def __init__(self, sign_outs: SignOuts, clock: Clock, staleness: timedelta) -> None:
        self._sign_outs = sign_outs
        self._clock = clock
        self._staleness = staleness
        self._entries: OrderedDict[UserId, tuple[datetime, datetime | None]] = OrderedDict()

    async def find(self, uid: UserId, *, is_fresh: bool = False) -> datetime | None:
        """Return since when tokens count; `is_fresh` reads it now."""
        now = self._clock.now()
        read_at, ended_at = self._entries.get(uid, (None, None))
        if is_fresh or read_at is None or now - read_at >= self._staleness:
            ended_at = await self._sign_outs.find(uid)
            self._entries[uid] = (now, ended_at)
            self._entries.move_to_end(uid)
            if len(self._entries) > MAX_CACHED_USERS:
                self._entries.popitem(last=False)
        return ended_at


def _path(uid: UserId) -> str:
    return f"users/{uid}/sign_outs/last"
