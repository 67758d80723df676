"""Registry of the runs of this process: readers and stops find them, shutdown ends them."""

from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from functions.chat.runs.followers import Followers
from functions.chat.runs.journal import Journal
from shared.domain.chats.run import Outcome
from shared.domain.ids import RunId, UserId


class ActiveRun:
    """A run in progress: its journal, and the scope that ends it from outside."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.scope = anyio.CancelScope()
        self.outcome: Outcome = "interrupted"

    def end(self, outcome: Outcome) -> None:
        """Cancel the model and the tools; the first call decides the outcome."""
        if not self.scope.cancel_called:
            self.outcome = outcome
            self.scope.cancel()


class RunRegistry:
    """Runs by owner and id. Of two with the same id, the store lets one continue."""

    def __init__(self) -> None:
        self.followers = Followers()
        self._runs: dict[tuple[UserId, RunId], ActiveRun] = {}
        self._is_closed = False

    def find(self, uid: UserId, run_id: RunId) -> ActiveRun | None:
        return self._runs.get((uid, run_id))

    @contextmanager
    def register(self, uid: UserId, run_id: RunId, active_run: ActiveRun) -> Iterator[None]:
        """List a run while the block lasts."""
        registered_run = self._runs.setdefault((uid, run_id), active_run)
        if self._is_closed:
            active_run.end("interrupted")
        try:
            yield
        finally:
            if registered_run is active_run:
                del self._runs[uid, run_id]

    def close(self) -> None:
        """Interrupt all runs, and every run that begins later."""
        self._is_closed = True
        for active_run in list(self._runs.values()):
            active_run.end("interrupted")
