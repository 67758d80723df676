"""Fair queue: whose model call is next, by urgency and by what users had before; pure.

Start-time fair queuing: a user's calls come one after another on a clock that counts tokens, and the
call that begins first on it is next. Who asks much is as far ahead on it as they had tokens, so that
a user who asks once is served before them, and everybody in the end.

Also called: priority queue, fair scheduling.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.domain.ids import UserId
from shared.domain.models.model import Urgency

MAX_USERS = 10_000
_RANKS: Mapping[Urgency, int] = {"now": 0, "soon": 1, "later": 2}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ticket:
    """A call that waits, since a time; `start` is where it begins on the queue's clock."""

    uid: UserId
    urgency: Urgency
    tokens: float
    start: float
    since: datetime


class FairQueue:
    """The calls that wait on one instance."""

    def __init__(self) -> None:
        self._waiting: list[Ticket] = []
        self._ends: OrderedDict[UserId, float] = OrderedDict()
        self._clock = 0.0

    def join(self, uid: UserId, urgency: Urgency, tokens: float, now: datetime) -> Ticket:
        start = self._find_start(uid)
        ticket = Ticket(uid=uid, urgency=urgency, tokens=tokens, start=start, since=now)
        self._waiting.append(ticket)
        self._set_end(uid, start + tokens)
        return ticket

    def is_first(self, ticket: Ticket) -> bool:
        return min(self._waiting, key=lambda each: (_RANKS[each.urgency], each.start)) is ticket

    def serve(self, ticket: Ticket) -> None:
        self._waiting.remove(ticket)
        self._clock = max(self._clock, ticket.start)

    def charge(self, uid: UserId, tokens: float) -> None:
        """Count tokens of a call that did not wait, as if it had come before what the user asks next."""
        self._set_end(uid, self._find_start(uid) + tokens)

    def leave(self, ticket: Ticket) -> None:
        """Give up: the user had no tokens for it. A question that was first had its turn: others waited behind it."""
        had_turn = ticket.urgency == "now" and self.is_first(ticket)
        self._waiting.remove(ticket)
        if not had_turn:
            self._set_end(ticket.uid, self._ends.get(ticket.uid, 0.0) - ticket.tokens)

    def find_longest_wait(self, uid: UserId) -> datetime | None:
        """Return since when the oldest call of a user waits; None where none does."""
        return min((each.since for each in self._waiting if each.uid == uid), default=None)

    def _find_start(self, uid: UserId) -> float:
        return max(self._clock, self._ends.get(uid, 0.0))

    def _set_end(self, uid: UserId, end: float) -> None:
        self._ends[uid] = end
        self._ends.move_to_end(uid)
        if len(self._ends) > MAX_USERS:
            self._ends.popitem(last=False)
