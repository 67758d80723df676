"""Dependencies of process_conversation: the ports and stores that the stories of each entry point use."""

from datetime import timedelta

from functions.process_conversation.processing.claims import Claims
from shared.data.erasures import Erasures
from shared.data.library_index import LibraryIndex
from shared.data.quotas import Quotas
from shared.data.search import Search
from shared.data.stores import Stores
from shared.domain.value import value
from shared.ports import (
    ChatModel,
    Clock,
    Events,
    Identity,
    NewId,
    ResidualData,
    ServiceIdentity,
    Tasks,
    ToolBox,
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
class LibraryDeps(IntegrationDeps):
    """What the owner's library needs, by HTTP and by MCP.

    `erasure_note` says for people what outlives an erasure here, and for how long.
    """

    events: Events
    tasks: Tasks
    erasures: Erasures
    erasure_note: str
    mcp_rate_limiter: KeyRateLimiter
    cors_origins: tuple[str, ...] = ()


@value
class ProcessDeps(EndpointDeps):
    """What processing a conversation needs."""

    model: ChatModel
    events: Events
    stores: Stores
    claims: Claims
    index: LibraryIndex


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
    residual_data: ResidualData
    grace: timedelta


@value
class RetentionDeps(EndpointDeps):
    """What deleting old transcripts needs."""

    clock: Clock
    tasks: Tasks
    stores: Stores
    quotas: Quotas
    claims: Claims
    index: LibraryIndex


@value
class TriggerDeps(EndpointDeps):
    """What the trigger needs to publish a change."""

    events: Events


@value
class DeadLetterDeps(EndpointDeps):
    """What recording dead letters needs."""

    stores: Stores
    claims: Claims
