"""Wiring of process_conversation: the dependencies of each entry point, built once per instance."""

from functools import cache

from functions.process_conversation.deps import (
    DeadLetterDeps,
    EraseDeps,
    IntegrationDeps,
    LibraryDeps,
    ProcessDeps,
    RetentionDeps,
    TriggerDeps,
)
from functions.process_conversation.processing.claims import Claims
from shared import wiring
from shared.data.library_index import LibraryIndex
from shared.data.search import Search
from shared.resilience.key_rate_limiter import KeyRateLimiter


def start() -> None:
    """Set up the log, and import what the first request needs."""
    wiring.start(
        adapters=("documents", "vectors", "model"),
        stores=(
            "action_items",
            "apps",
            "conversations",
            "hourly_limits",
            "memories",
            "operations",
            "people",
            "profiles",
        ),
    )


@cache
def library_deps() -> LibraryDeps:
    return LibraryDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        events=wiring.events(),
        tasks=wiring.tasks(),
        erasures=wiring.erasures(),
        erasure_note=wiring.erasure_note(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
        index=_build_index(),
        search=_build_search(),
        mcp_rate_limiter=KeyRateLimiter(),
        cors_origins=wiring.cors_origins(),
    )


@cache
def integration_deps() -> IntegrationDeps:
    return IntegrationDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
        index=_build_index(),
        search=_build_search(),
    )


@cache
def process_deps() -> ProcessDeps:
    return ProcessDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        model=wiring.model(),
        events=wiring.events(),
        stores=wiring.stores(),
        claims=_build_claims(),
        index=_build_index(),
    )


@cache
def erase_deps() -> EraseDeps:
    return EraseDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        stores=wiring.stores(),
        erasures=wiring.erasures(),
        toolbox=wiring.toolbox("erase_account"),
        vectors=wiring.vectors(),
        residual_data=wiring.residual_data(),
        grace=wiring.erasure_grace(),
    )


@cache
def retention_deps() -> RetentionDeps:
    return RetentionDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        tasks=wiring.tasks(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
        claims=_build_claims(),
        index=_build_index(),
    )


@cache
def trigger_deps() -> TriggerDeps:
    return TriggerDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        events=wiring.events(),
    )


@cache
def dead_letter_deps() -> DeadLetterDeps:
    return DeadLetterDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        stores=wiring.stores(),
        claims=_build_claims(),
    )


def _build_index() -> LibraryIndex:
    return LibraryIndex(wiring.vectors(), wiring.embedder())


def _build_search() -> Search:
    return Search(wiring.documents(), wiring.vectors(), wiring.embedder())


def _build_claims() -> Claims:
    return Claims(wiring.documents(), wiring.clock(), wiring.new_id())
