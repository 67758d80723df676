"""The ports and stores of the chat function, built once per instance."""

from dataclasses import field
from functools import cache

from functions.chat.runs.run_registry import RunRegistry
from functions.chat.turn.limits import Limits
from shared import wiring
from shared.data.action_items import ActionItems
from shared.data.apps import Apps, InstalledApps
from shared.data.cached_apps import CachedApps
from shared.data.confirmations import Confirmations
from shared.data.connections import Connections
from shared.data.conversations import Conversations
from shared.data.memories import Memories
from shared.data.messages import Messages
from shared.data.profiles import Devices, Profiles
from shared.data.runs import Runs
from shared.data.search import Search
from shared.data.sessions import Sessions
from shared.domain.value import value
from shared.ports import ChatModel, Clock, Events, Identity, NewId, ServiceIdentity, Tasks, ToolBox


@value
class ChatDeps:
    """Everything a turn asks of the world."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    new_id: NewId
    model: ChatModel
    events: Events
    tasks: Tasks
    toolbox: ToolBox
    search: Search
    conversations: Conversations
    memories: Memories
    action_items: ActionItems
    messages: Messages
    sessions: Sessions
    runs: Runs
    confirmations: Confirmations
    profiles: Profiles
    devices: Devices
    apps: Apps
    offered_apps: CachedApps
    installed_apps: InstalledApps
    connections: Connections
    limits: Limits
    web_search: bool = False
    active_runs: RunRegistry = field(default_factory=RunRegistry)
    cors_origins: tuple[str, ...] = ()


@value
class AfterTurnDeps:
    """What follows a turn asks of the world."""

    identity: Identity
    service_identity: ServiceIdentity
    model: ChatModel
    messages: Messages
    sessions: Sessions


@value
class ClosingDeps:
    """Everything that closing a run asks of the world."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    runs: Runs


def start() -> None:
    """Set up the log, and import what the first request certainly needs."""
    wiring.start("documents", "vectors", "model")


@cache
def deps() -> ChatDeps:
    documents = wiring.documents()
    return ChatDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        model=wiring.model(),
        events=wiring.events(),
        tasks=wiring.tasks(),
        toolbox=wiring.toolbox(),
        search=Search(documents, wiring.vectors(), wiring.embedder()),
        conversations=Conversations(documents),
        memories=Memories(documents),
        action_items=ActionItems(documents),
        messages=Messages(documents),
        sessions=Sessions(documents),
        runs=Runs(documents),
        confirmations=Confirmations(documents),
        profiles=Profiles(documents),
        devices=Devices(documents),
        apps=Apps(documents),
        offered_apps=CachedApps(Apps(documents), wiring.clock()),
        installed_apps=InstalledApps(documents),
        connections=Connections(documents),
        limits=Limits(),
        web_search=wiring.settings().web_search,
        cors_origins=wiring.settings().cors_origins,
    )


@cache
def after_turn_deps() -> AfterTurnDeps:
    documents = wiring.documents()
    return AfterTurnDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        model=wiring.model(),
        messages=Messages(documents),
        sessions=Sessions(documents),
    )


@cache
def closing_deps() -> ClosingDeps:
    return ClosingDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        runs=Runs(wiring.documents()),
    )
