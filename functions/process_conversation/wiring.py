"""The ports and stores of process_conversation, built once per instance."""

from dataclasses import field
from functools import cache

from functions.process_conversation.mcp_server.rate_limits import KeyRateLimiter
from functions.process_conversation.processing.claims import Claims
from shared import wiring
from shared.data.accounts import Accounts, Erasures
from shared.data.action_items import ActionItems
from shared.data.apps import Apps, InstalledApps
from shared.data.connections import Connections
from shared.data.conversations import Conversations
from shared.data.dead_letters import DeadLetters
from shared.data.hourly_limits import HourlyLimits
from shared.data.library_index import LibraryIndex
from shared.data.mcp_keys import McpKeys
from shared.data.memories import Memories
from shared.data.operations import Operations
from shared.data.people import People
from shared.data.profiles import Profiles
from shared.data.search import Search
from shared.domain.value import value
from shared.ports import (
    ChatModel,
    Clock,
    Documents,
    Events,
    Identity,
    NewId,
    ServiceIdentity,
    Tasks,
    ToolBox,
    Vectors,
)


@value
class LibraryDeps:
    """What the owner's library asks of the world."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    new_id: NewId
    conversations: Conversations
    memories: Memories
    action_items: ActionItems
    people: People
    index: LibraryIndex
    events: Events
    search: Search
    accounts: Accounts
    erasures: Erasures
    tasks: Tasks
    mcp_keys: McpKeys
    mcp_rate_limiter: KeyRateLimiter = field(default_factory=KeyRateLimiter)
    cors_origins: tuple[str, ...] = ()


@value
class IntegrationDeps:
    """What apps ask of a user's library."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    new_id: NewId
    apps: Apps
    installed_apps: InstalledApps
    limits: HourlyLimits
    operations: Operations
    conversations: Conversations
    memories: Memories
    action_items: ActionItems
    index: LibraryIndex
    search: Search


@value
class ProcessDeps:
    """What processing asks of the world."""

    identity: Identity
    service_identity: ServiceIdentity
    documents: Documents
    model: ChatModel
    events: Events
    claims: Claims
    conversations: Conversations
    memories: Memories
    action_items: ActionItems
    profiles: Profiles
    index: LibraryIndex


@value
class EraseDeps:
    """What erasing a user asks of the world."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    accounts: Accounts
    connections: Connections
    erasures: Erasures
    toolbox: ToolBox
    vectors: Vectors


@value
class TriggerDeps:
    """What the trigger asks of the world."""

    identity: Identity
    service_identity: ServiceIdentity
    events: Events


@value
class DeadLetterDeps:
    """What writing down dead letters asks of the world."""

    identity: Identity
    service_identity: ServiceIdentity
    dead_letters: DeadLetters
    claims: Claims


def start() -> None:
    """Set up the log, and import what the first request certainly needs."""
    wiring.start("documents", "vectors", "model")


@cache
def library_deps() -> LibraryDeps:
    documents = wiring.documents()
    return LibraryDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        conversations=Conversations(documents),
        memories=Memories(documents),
        action_items=ActionItems(documents),
        people=People(documents),
        index=LibraryIndex(wiring.vectors(), wiring.embedder()),
        events=wiring.events(),
        search=Search(documents, wiring.vectors(), wiring.embedder()),
        accounts=Accounts(documents),
        erasures=Erasures(documents),
        tasks=wiring.tasks(),
        mcp_keys=McpKeys(documents),
        cors_origins=wiring.settings().cors_origins,
    )


@cache
def integration_deps() -> IntegrationDeps:
    documents = wiring.documents()
    return IntegrationDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        apps=Apps(documents),
        installed_apps=InstalledApps(documents),
        limits=HourlyLimits(documents),
        operations=Operations(documents),
        conversations=Conversations(documents),
        memories=Memories(documents),
        action_items=ActionItems(documents),
        index=LibraryIndex(wiring.vectors(), wiring.embedder()),
        search=Search(documents, wiring.vectors(), wiring.embedder()),
    )


@cache
def process_deps() -> ProcessDeps:
    documents = wiring.documents()
    return ProcessDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        documents=documents,
        model=wiring.model(),
        events=wiring.events(),
        claims=Claims(documents, wiring.clock(), wiring.new_id()),
        conversations=Conversations(documents),
        memories=Memories(documents),
        action_items=ActionItems(documents),
        profiles=Profiles(documents),
        index=LibraryIndex(wiring.vectors(), wiring.embedder()),
    )


@cache
def erase_deps() -> EraseDeps:
    documents = wiring.documents()
    return EraseDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        accounts=Accounts(documents),
        connections=Connections(documents),
        erasures=Erasures(documents),
        toolbox=wiring.toolbox(),
        vectors=wiring.vectors(),
    )


@cache
def trigger_deps() -> TriggerDeps:
    return TriggerDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        events=wiring.events(),
    )


@cache
def dead_letter_deps() -> DeadLetterDeps:
    documents = wiring.documents()
    return DeadLetterDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        dead_letters=DeadLetters(documents),
        claims=Claims(documents, wiring.clock(), wiring.new_id()),
    )
