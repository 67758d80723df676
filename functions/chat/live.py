"""The runs of this process: found by who follows or stops them, ended when the process has to go."""

from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from functions.chat.journal import Journal
from shared.domain.errors import TooMany
from shared.domain.ids import RunId, UserId
from shared.domain.run import Outcome

MAX_RUNS = 10
"""So many answers may one user have in progress in one process."""
RETRY_AFTER_S = 5


class LiveRun:
    """A run at work: what it tells, and how it is ended from outside."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.scope = anyio.CancelScope()
        self.ended_as: Outcome = "interrupted"

    def end(self, outcome: Outcome) -> None:
        """Cut the model and the tools off; the first to say so decides how it ended."""
        if not self.scope.cancel_called:
            self.ended_as = outcome
            self.scope.cancel()


class LiveRuns:
    """By owner and id. Of two that mean to be the same run, the store lets one go on."""

    def __init__(self) -> None:
        self._runs: dict[tuple[UserId, RunId], LiveRun] = {}
        self._closed = False

    def find(self, uid: UserId, run_id: RunId) -> LiveRun | None:
        return self._runs.get((uid, run_id))

    def check_room(self, uid: UserId) -> None:
        """Raises TooMany while a user has MAX_RUNS in progress."""
        if sum(owner == uid for owner, _ in self._runs) >= MAX_RUNS:
            raise TooMany(
                f"I am already working on {MAX_RUNS} of your questions. "
                "Please wait for one of the answers, or stop one.",
                retry_after_s=RETRY_AFTER_S,
            )

    @contextmanager
    def holding(self, uid: UserId, run_id: RunId, live: LiveRun) -> Iterator[None]:
        """Let a run be found while the block lasts."""
        held = self._runs.setdefault((uid, run_id), live)
        if self._closed:
            live.end("interrupted")
        try:
            yield
        finally:
            if held is live:
                del self._runs[uid, run_id]

    def close(self) -> None:
        """Interrupt every run, and those that begin from now on."""
        self._closed = True
        for live in list(self._runs.values()):
            live.end("interrupted")
