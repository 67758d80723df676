"""Idempotency of questions: the same key from the same user leads to the same run.

Also called: duplicate request detection, double-submit protection.
"""

import base64
import hashlib

from functions.chat.deps import ChatDeps
from shared.domain.chats.run import Run
from shared.domain.ids import RunId, SessionId, UserId
from shared.domain.value import value


@value
class IdempotencyKey:
    """Key that a client sends with a question; `fingerprint` is a hash of the whole question."""

    text: str
    fingerprint: str

    def run_id(self, uid: UserId) -> RunId:
        digest = hashlib.sha256(f"{uid}/{self.text}".encode()).digest()
        return RunId(base64.urlsafe_b64encode(digest[:16]).decode().rstrip("="))


@value
class WaitingKey:
    """Key of a question that waits: it is answered by the run that was named when it came first."""

    waiting_run_id: RunId
    session_id: SessionId
    fingerprint: str

    def run_id(self, _: UserId) -> RunId:
        """Return the name of the run within its chat."""
        return RunId(self.waiting_run_id.removeprefix(f"{self.session_id}-"))


QuestionKey = IdempotencyKey | WaitingKey


class DuplicateQuestion(Exception):
    """The key was used before, for `run`."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.id)
        self.run = run


async def check_unused(deps: ChatDeps, uid: UserId, run_id: RunId, key: QuestionKey | None) -> None:
    """Raises DuplicateQuestion."""
    run = await deps.stores.runs.get(uid, run_id, deps.clock.now()) if key else None
    if run is not None:
        raise DuplicateQuestion(run)
