"""Sync jobs of a user: what was sent together from a phone, for a week."""

from datetime import datetime

from shared.data.store.codec import dump, load
from shared.domain.conversations.sync_job import SyncJob
from shared.domain.errors import NotFound
from shared.domain.ids import UserId, is_id
from shared.domain.store.documents import Create
from shared.ports import Documents

NOT_FOUND = "Sync job not found or expired"


class SyncJobs:
    """Documents `users/{uid}/sync_jobs/{id}`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def add(self, uid: UserId, job: SyncJob) -> None:
        await self._documents.write(Create(_path(uid, job.id), dump(job)))

    async def get(self, uid: UserId, job_id: str, *, now: datetime) -> SyncJob:
        """Raises NotFound, also for one that has expired."""
        document = await self._documents.get(_path(uid, job_id)) if is_id(job_id) else None
        job = load(SyncJob, document) if document else None
        if job is None or job.expires_at <= now:
            raise NotFound(NOT_FOUND)
        return job


def _path(uid: UserId, job_id: str) -> str:
    return f"users/{uid}/sync_jobs/{job_id}"
