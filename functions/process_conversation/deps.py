"""Dependencies of process_conversation: the ports and stores that the stories of each entry point use."""

from functions.process_conversation.processing.claims import Claims
from shared.data.library_index import LibraryIndex
from shared.data.search import Search
from shared.data.stores import Stores
from shared.domain.value import value
from shared.ports import (
    ChatModel,
    Clock,
    Events,
    Identity,
    NewId,
    ServiceIdentity,
    Tasks,
    ToolBox,
    Vectors,
)
from shared.resilience.key_rate_limiter import KeyRateLimiter


@value
class LibraryDeps:
    """What the owner's library needs, by HTTP and by MCP."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    new_id: NewId
    events: Events
    tasks: Tasks
    stores: Stores
    index: LibraryIndex
    search: Search
    mcp_rate_limiter: KeyRateLimiter
    cors_origins: tuple[str, ...] = ()


@value
class IntegrationDeps:
    """What apps need that read or write a user's library."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    new_id: NewId
    stores: Stores
    index: LibraryIndex
    search: Search


@value
class ProcessDeps:
    """What processing a conversation needs."""

    identity: Identity
    service_identity: ServiceIdentity
    model: ChatModel
    events: Events
    stores: Stores
    claims: Claims
    index: LibraryIndex


@value
class EraseDeps:
    """What erasing an account needs."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    stores: Stores
    toolbox: ToolBox
    vectors: Vectors


@value
class TriggerDeps:
    """What the trigger needs to publish a change."""

    identity: Identity
    service_identity: ServiceIdentity
    events: Events


@value
class DeadLetterDeps:
    """What recording dead letters needs."""

    identity: Identity
    service_identity: ServiceIdentity
    stores: Stores
    claims: Claims
