"""Dependencies of process_conversation: the ports and stores that the stories of each entry point use."""

# Annotations are not evaluated: a process imports what it uses of these, with the first request that does.
from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from shared.domain.value import value

if TYPE_CHECKING:
    from datetime import timedelta

    from functions.process_conversation.processing.claims import Claims
    from shared.data.cached_apps import CallingApps
    from shared.data.crisis_log import CrisisLog
    from shared.data.erasures import Erasures
    from shared.data.file_index import FileIndex
    from shared.data.library_index import LibraryIndex
    from shared.data.quotas import Quotas
    from shared.data.reindexings import Reindexings
    from shared.data.search import Search
    from shared.data.stores import Stores
    from shared.domain.model_failure import ModelPlace
    from shared.ports import (
        Blobs,
        Clock,
        Documents,
        DueDocuments,
        Events,
        Identity,
        Models,
        NewId,
        ResidualData,
        ServiceIdentity,
        Tasks,
        ToolBox,
        Transcriber,
        UserList,
        Vectors,
    )
    from shared.resilience.key_rate_limiter import KeyRateLimiter


@value
class EndpointDeps:
    """What every entry point needs."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock


@value
class IntegrationDeps(EndpointDeps):
    """What apps need that read or write a user's library."""

    new_id: NewId
    stores: Stores
    quotas: Quotas
    index: LibraryIndex
    search: Search


@value
class AppRequestDeps(IntegrationDeps):
    """What a request of an app needs, beside what it does."""

    calling_apps: CallingApps


@value
class ImportDeps(IntegrationDeps):
    """What reading and keeping imported files needs."""

    tasks: Tasks
    blobs: Blobs
    transcriber: Transcriber


@value
class LibraryDeps(ImportDeps):
    """What the owner's library needs, by HTTP and by MCP.

    `erasure_note` says for people what outlives an erasure here, and for how long. `public_url` is where
    links lead, without a slash at its end.
    """

    model: Models
    events: Events
    erasures: Erasures
    erasure_note: str
    public_url: str
    key_rate_limiter: KeyRateLimiter
    share_rate_limiter: KeyRateLimiter
    cors_origins: tuple[str, ...] = ()


class IngestionDeps(Protocol):
    """What storing a conversation needs, of whichever dependencies."""

    @property
    def clock(self) -> Clock: ...
    @property
    def stores(self) -> Stores: ...
    @property
    def quotas(self) -> Quotas: ...


@value
class TranscribeDeps(EndpointDeps):
    """What turning a recording into a conversation needs."""

    new_id: NewId
    stores: Stores
    quotas: Quotas
    blobs: Blobs
    tasks: Tasks
    transcriber: Transcriber


@value
class FileDeps(EndpointDeps):
    """What taking in, reading and deleting files needs.

    `public_url` is where links lead, without a slash at its end.
    """

    new_id: NewId
    stores: Stores
    quotas: Quotas
    blobs: Blobs
    tasks: Tasks
    file_index: FileIndex
    public_url: str
    cors_origins: tuple[str, ...] = ()


@value
class ProcessDeps(EndpointDeps):
    """What processing a conversation needs."""

    model: Models
    events: Events
    tasks: Tasks
    stores: Stores
    quotas: Quotas
    blobs: Blobs
    claims: Claims
    index: LibraryIndex
    model_place: ModelPlace = "service"


@value
class DayDeps(EndpointDeps):
    """What summarising a day when it is due needs."""

    model: Models
    tasks: Tasks
    stores: Stores
    quotas: Quotas


@value
class EraseDeps(EndpointDeps):
    """What erasing an account needs.

    `grace` is how long after its request work may go on that began before.
    """

    new_id: NewId
    stores: Stores
    erasures: Erasures
    toolbox: ToolBox
    vectors: Vectors
    blobs: Blobs
    residual_data: ResidualData
    crisis_log: CrisisLog
    grace: timedelta


@value
class RetentionDeps(EndpointDeps):
    """What deleting old transcripts needs."""

    claims: Claims
    tasks: Tasks
    stores: Stores
    quotas: Quotas
    blobs: Blobs
    index: LibraryIndex


@value
class ExpireUploadDeps(EndpointDeps):
    """What deleting an expired upload needs."""

    stores: Stores
    quotas: Quotas
    blobs: Blobs


@value
class MergeDeps(EndpointDeps):
    """What making a merge final needs."""

    stores: Stores


@value
class MarkingDeps(EndpointDeps):
    """What marking the owner in stored conversations needs."""

    tasks: Tasks
    stores: Stores


@value
class TriggerDeps(EndpointDeps):
    """What the trigger needs to publish a change."""

    events: Events


@value
class SweepDeps(EndpointDeps):
    """What beginning again what is stuck needs."""

    documents: Documents
    due_documents: DueDocuments
    events: Events
    tasks: Tasks


@value
class ReindexDeps(EndpointDeps):
    """What building the rows of all users anew needs; `index` and `file_index` await the embedder."""

    user_list: UserList
    reindexings: Reindexings
    tasks: Tasks
    stores: Stores
    blobs: Blobs
    index: LibraryIndex
    file_index: FileIndex


@value
class DeadLetterDeps(EndpointDeps):
    """What recording dead letters needs."""

    new_id: NewId
    stores: Stores
    erasures: Erasures
