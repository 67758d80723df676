"""The runs of this process: found by who follows or stops them, ended when the process has to go."""

from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from functions.chat.runs.journal import Journal
from shared.domain.errors import TooMany
from shared.domain.ids import RunId, UserId
from shared.domain.run import Outcome

MAX_RUNS_PER_USER = 10
"""So many answers may one user have in progress in one process."""
RETRY_AFTER_S = 5


class ActiveRun:
    """A run at work: what it tells, and how it is ended from outside."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.scope = anyio.CancelScope()
        self.outcome: Outcome = "interrupted"

    def end(self, outcome: Outcome) -> None:
        """Cut the model and the tools off; the first to say so decides how it ended."""
        if not self.scope.cancel_called:
            self.outcome = outcome
            self.scope.cancel()


class RunRegistry:
    """By owner and id. Of two that mean to be the same run, the store lets one go on."""

    def __init__(self) -> None:
        self._runs: dict[tuple[UserId, RunId], ActiveRun] = {}
        self._is_closed = False

    def find(self, uid: UserId, run_id: RunId) -> ActiveRun | None:
        return self._runs.get((uid, run_id))

    def check_capacity(self, uid: UserId) -> None:
        """Raises TooMany while a user has MAX_RUNS in progress."""
        if sum(owner == uid for owner, _ in self._runs) >= MAX_RUNS_PER_USER:
            raise TooMany(
                f"I am already working on {MAX_RUNS_PER_USER} of your questions. "
                "Please wait for one of the answers, or stop one.",
                retry_after_s=RETRY_AFTER_S,
            )

    @contextmanager
    def register(self, uid: UserId, run_id: RunId, active_run: ActiveRun) -> Iterator[None]:
        """Let a run be found while the block lasts."""
        registered_run = self._runs.setdefault((uid, run_id), active_run)
        if self._is_closed:
            active_run.end("interrupted")
        try:
            yield
        finally:
            if registered_run is active_run:
                del self._runs[uid, run_id]

    def close(self) -> None:
        """Interrupt every run, and those that begin from now on."""
        self._is_closed = True
        for active_run in list(self._runs.values()):
            active_run.end("interrupted")
