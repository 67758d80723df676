"""Sync job: files of a phone that were sent together, and what becomes of them."""

from datetime import datetime, timedelta

from shared.domain.conversations.recording import Recording, RecordingStatus
from shared.domain.ids import ConversationId
from shared.domain.value import value

SYNC_JOB_TTL = timedelta(days=7)
GONE = "Neither a recording nor a conversation of these files is left."


@value
class RefusedFile:
    """A file that was not taken, and why, for people."""

    name: str
    reason: str


@value
class SyncJob:
    """What came of files that were sent together: the recordings that they are part of, and those refused."""

    id: str
    created_at: datetime
    expires_at: datetime
    recording_ids: tuple[ConversationId, ...] = ()
    refused: tuple[RefusedFile, ...] = ()

    @property
    def count(self) -> int:
        """How many things it is about: recordings, and files that are part of none."""
        return len(self.recording_ids) + len(self.refused)


@value
class SyncState:
    """What became of a job by now: `recordings` that are left, and conversations of those that are gone."""

    job: SyncJob
    recordings: tuple[Recording, ...]
    known_ids: tuple[ConversationId, ...]

    @property
    def is_over(self) -> bool:
        return not self._list("transcribing")

    @property
    def new_ids(self) -> tuple[ConversationId, ...]:
        """Conversations that were made of the files."""
        own = (each.id for each in self._list("done") if each.conversation_id is None)
        return (*own, *self.known_ids)

    @property
    def joined_ids(self) -> tuple[ConversationId, ...]:
        """Conversations that the files are part of, beside other sound."""
        joined = (each.conversation_id for each in self._list("done") if each.conversation_id)
        return tuple(dict.fromkeys(joined))

    @property
    def failed_count(self) -> int:
        return len(self._list("failed")) + len(self.job.refused) + self._missing_count

    @property
    def successful_count(self) -> int:
        return self.job.count - self.failed_count - len(self._list("transcribing"))

    @property
    def problems(self) -> tuple[str, ...]:
        """What failed, and what held no speech, in sentences for people."""
        refused = (f"{file.name}: {file.reason}" for file in self.job.refused)
        failures = (
            f"{each.name}: {each.failure.detail}" for each in self.recordings if each.failure
        )
        missing = [GONE] * self._missing_count
        return (*refused, *failures, *missing)

    @property
    def _missing_count(self) -> int:
        return len(self.job.recording_ids) - len(self.recordings) - len(self.known_ids)

    def _list(self, status: RecordingStatus) -> list[Recording]:
        return [each for each in self.recordings if each.status == status]
