"""Vector homes: in which bucket of the vector index each user's rows are."""

from collections import OrderedDict
from datetime import datetime, timedelta

from shared.data.account.profiles import Profiles
from shared.domain.errors import Conflict
from shared.domain.ids import UserId
from shared.domain.store.vector_home import VectorHome, hash_home
from shared.ports import Clock

MAX_CACHED_USERS = 10_000


class VectorHomes:
    """Homes in the users' profiles; who was never moved lives where the hash of their id says."""

    def __init__(self, profiles: Profiles) -> None:
        self._profiles = profiles

    async def get(self, uid: UserId) -> VectorHome:
        return (await self._profiles.get(uid)).vector_home or hash_home(uid)

    async def replace(self, uid: UserId, home: VectorHome, *, expected: VectorHome) -> None:
        """Raises Conflict where somebody else moved the user meanwhile."""

        def change(stored: VectorHome | None) -> VectorHome:
            if (stored or hash_home(uid)) != expected:
                raise Conflict("Somebody else moves this user, or the account was erased")
            return home

        await self._profiles.change_vector_home(uid, change)


class VectorHomeCache:
    """Homes by user, at most `staleness` old."""

    def __init__(self, homes: VectorHomes, clock: Clock, staleness: timedelta) -> None:
        self._homes = homes
        self._clock = clock
        self._staleness = staleness
        self._entries: OrderedDict[UserId, tuple[datetime, VectorHome]] = OrderedDict()

    async def get(self, uid: UserId) -> VectorHome:
        now = self._clock.now()  # before the read: what is read may be older than its answer
        if (entry := self._entries.get(uid)) and now - entry[0] < self._staleness:
            return entry[1]
        home = await self._homes.get(uid)
        self._entries[uid] = (now, home)
        self._entries.move_to_end(uid)
        if len(self._entries) > MAX_CACHED_USERS:
            self._entries.popitem(last=False)
        return home
