"""Wiring of the chat function: its dependencies, built once per instance."""

from functools import cache

from functions.chat.deps import (
    AfterTurnDeps,
    ChatDeps,
    ClosingDeps,
    Limits,
    OpeningDeps,
    StretchDeps,
)
from functions.chat.runs.incognito_chats import IncognitoChats
from functions.chat.runs.run_registry import RunRegistry
from shared import model_wiring, startup, wiring


def start() -> None:
    """Set up the log, and import what the first request needs."""
    startup.start(
        adapters=("documents",),
        stores=("messages", "runs", "sessions"),
    )


@cache
def opening_deps() -> OpeningDeps:
    return OpeningDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        stores=wiring.chat_stores(),
        incognito_chats=IncognitoChats(),
    )


@cache
def deps() -> ChatDeps:
    from shared.data.cached_apps import CachedApps
    from shared.data.file_index import FileIndex
    from shared.data.library_index import LibraryIndex
    from shared.data.search import Search

    opening, stores = opening_deps(), opening_deps().stores
    return ChatDeps(
        identity=opening.identity,
        service_identity=opening.service_identity,
        clock=opening.clock,
        new_id=opening.new_id,
        stores=stores,
        incognito_chats=opening.incognito_chats,
        model=model_wiring.model(),
        moderator=model_wiring.moderator(),
        build_transcriber=model_wiring.transcriber,
        build_realtime=model_wiring.realtime,
        events=wiring.events(),
        tasks=wiring.tasks(),
        toolbox=wiring.toolbox("chat"),
        data_keys=wiring.data_keys(),
        search=Search(stores.documents, wiring.vectors(), model_wiring.embedder()),
        crisis_log=wiring.crisis_log(),
        index=LibraryIndex(wiring.vectors(), model_wiring.embedder()),
        file_index=FileIndex(wiring.vectors(), model_wiring.embedder()),
        blobs=wiring.blobs(),
        offered_apps=CachedApps(stores.apps, wiring.clock()),
        active_runs=RunRegistry(),
        quotas=wiring.quotas(),
        limits=Limits(),
        thresholds=wiring.settings().thresholds,
        model_place=model_wiring.model_place(),
        web_search=wiring.settings().web_search,
    )


@cache
def after_turn_deps() -> AfterTurnDeps:
    return AfterTurnDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        tasks=wiring.tasks(),
        model=model_wiring.model(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
        harm_limit=wiring.settings().harm_limit,
        link_checker=wiring.link_checker("after_turn"),
    )


@cache
def stretch_deps() -> StretchDeps:
    from shared.data.library_index import LibraryIndex

    return StretchDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        model=model_wiring.model(),
        stores=wiring.stores(),
        index=LibraryIndex(wiring.vectors(), model_wiring.embedder()),
        crisis_log=wiring.crisis_log(),
        quotas=wiring.quotas(),
    )


@cache
def closing_deps() -> ClosingDeps:
    return ClosingDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        stores=wiring.sealed_stores(),
    )
