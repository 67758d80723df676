"""Schemas of files of a phone: what is sent beside them, and what became of them, as the Omi app reads it.

A segment is what the app calls a recording here.
"""

from typing import Annotated, Literal, Self

from pydantic import Field

from shared.domain.conversations.sync_job import SyncJob, SyncState
from shared.domain.ids import ConversationId, is_id
from shared.edge.declare.schemas import Wire

POLL_AFTER_MS = 3_000
MAX_ERRORS = 10
SyncStatus = Literal["queued", "processing", "completed", "partial_failure", "failed"]


class SyncIn(Wire):
    """No field beside the files."""


class SyncQuery(Wire):
    """The conversation that the sound belongs to, where the phone knows it."""

    conversation_id: Annotated[str | None, Field(max_length=64)] = None

    @property
    def target_id(self) -> ConversationId | None:
        name = self.conversation_id
        return ConversationId(name) if name and is_id(name) else None


class SyncJobStartedOut(Wire):
    """Files that were taken; `job_id` is asked for what becomes of them."""

    job_id: str
    status: SyncStatus
    total_files: int
    total_segments: int
    poll_after_ms: int

    @classmethod
    def of(cls, job: SyncJob, *, file_count: int) -> Self:
        return cls(
            job_id=job.id,
            status="queued",
            total_files=file_count,
            total_segments=job.count,
            poll_after_ms=POLL_AFTER_MS,
        )


class SyncResultOut(Wire):
    """Conversations that files became or are part of by now; `errors` say what failed, or held no speech."""

    new_memories: list[str]
    updated_memories: list[str]
    failed_segments: int
    total_segments: int
    errors: list[str]

    @classmethod
    def of(cls, state: SyncState) -> Self:
        return cls(
            new_memories=list(state.new_ids),
            updated_memories=list(state.joined_ids),
            failed_segments=state.failed_count,
            total_segments=state.job.count,
            errors=list(state.problems[:MAX_ERRORS]),
        )


class SyncJobOut(Wire):
    """How far files are; `result` comes at the end, `error` where nothing became of any."""

    job_id: str
    status: SyncStatus
    total_segments: int
    processed_segments: int
    successful_segments: int
    failed_segments: int
    result: SyncResultOut | None
    error: str | None

    @classmethod
    def of(cls, state: SyncState) -> Self:
        has_failed = state.is_over and not state.successful_count
        return cls(
            job_id=state.job.id,
            status=_name_status(state),
            total_segments=state.job.count,
            processed_segments=state.successful_count + state.failed_count,
            successful_segments=state.successful_count,
            failed_segments=state.failed_count,
            result=SyncResultOut.of(state) if state.is_over else None,
            error=next(iter(state.problems), None) if has_failed else None,
        )


def _name_status(state: SyncState) -> SyncStatus:
    if not state.is_over:
        return "processing"
    if not state.failed_count:
        return "completed"
    return "partial_failure" if state.successful_count else "failed"
