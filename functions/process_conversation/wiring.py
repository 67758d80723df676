"""Wiring of process_conversation: the dependencies of each entry point, built once per instance."""

from functools import cache
from typing import TYPE_CHECKING

from functions.process_conversation.deps import (
    AppRequestDeps,
    DayDeps,
    DeadLetterDeps,
    EraseDeps,
    ExpireUploadDeps,
    FileDeps,
    ImportDeps,
    LibraryDeps,
    MarkingDeps,
    MergeDeps,
    ProcessDeps,
    ReindexDeps,
    RetentionDeps,
    SweepDeps,
    TranscribeDeps,
    TriggerDeps,
)
from shared import model_wiring, startup, wiring

if TYPE_CHECKING:
    from functions.process_conversation.processing.claims import Claims
    from shared.data.library_index import LibraryIndex
    from shared.data.search import Search


def start(*stores: str) -> None:
    """Set up the log, and import the documents, and these stores of them."""
    startup.start(adapters=("documents",), stores=stores)


@cache
def library_deps() -> LibraryDeps:
    from shared.resilience.key_rate_limiter import KeyRateLimiter

    return LibraryDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        model=model_wiring.model(),
        events=wiring.events(),
        tasks=wiring.tasks(),
        blobs=wiring.blobs(),
        transcriber=model_wiring.transcriber(),
        erasures=wiring.erasures(),
        erasure_note=wiring.erasure_note(),
        public_url=wiring.public_url(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
        index=_build_index(),
        search=_build_search(),
        key_rate_limiter=KeyRateLimiter(unit="requests"),
        share_rate_limiter=KeyRateLimiter(unit="requests"),
        cors_origins=wiring.cors_origins(),
    )


@cache
def integration_deps() -> AppRequestDeps:
    from shared.data.cached_apps import CallingApps

    return AppRequestDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
        index=_build_index(),
        search=_build_search(),
        calling_apps=CallingApps(wiring.stores().apps, wiring.clock()),
    )


@cache
def import_deps() -> ImportDeps:
    return ImportDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        tasks=wiring.tasks(),
        blobs=wiring.blobs(),
        transcriber=model_wiring.transcriber(),
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
        model=model_wiring.model(),
        model_place=model_wiring.model_place(),
        events=wiring.events(),
        tasks=wiring.tasks(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
        blobs=wiring.blobs(),
        claims=_build_claims(),
        index=_build_index(),
    )


@cache
def transcribe_deps() -> TranscribeDeps:
    return TranscribeDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
        blobs=wiring.blobs(),
        tasks=wiring.tasks(),
        transcriber=model_wiring.transcriber(),
    )


@cache
def file_deps() -> FileDeps:
    from shared.data.file_index import FileIndex

    return FileDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
        blobs=wiring.blobs(),
        tasks=wiring.tasks(),
        file_index=FileIndex(wiring.vectors(), model_wiring.embedder()),
        public_url=wiring.public_url(),
        cors_origins=wiring.cors_origins(),
    )


@cache
def day_deps() -> DayDeps:
    return DayDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        model=model_wiring.model(),
        tasks=wiring.tasks(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
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
        blobs=wiring.blobs(),
        residual_data=wiring.residual_data(),
        crisis_log=wiring.crisis_log(),
        grace=wiring.erasure_grace(),
    )


@cache
def retention_deps() -> RetentionDeps:
    return RetentionDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        claims=_build_claims(),
        tasks=wiring.tasks(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
        blobs=wiring.blobs(),
        index=_build_index(),
    )


@cache
def expire_upload_deps() -> ExpireUploadDeps:
    return ExpireUploadDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        stores=wiring.stores(),
        quotas=wiring.quotas(),
        blobs=wiring.blobs(),
    )


@cache
def merge_deps() -> MergeDeps:
    return MergeDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        stores=wiring.stores(),
    )


@cache
def marking_deps() -> MarkingDeps:
    return MarkingDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        tasks=wiring.tasks(),
        stores=wiring.stores(),
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
def sweep_deps() -> SweepDeps:
    return SweepDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        documents=wiring.documents(),
        due_documents=wiring.due_documents(),
        events=wiring.events(),
        tasks=wiring.tasks(),
    )


@cache
def reindex_deps() -> ReindexDeps:
    from shared.data.file_index import FileIndex
    from shared.data.library_index import LibraryIndex
    from shared.data.reindexings import Reindexings

    vectors, embedder = wiring.vectors(), model_wiring.embedder()
    return ReindexDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        user_list=wiring.user_list(),
        reindexings=Reindexings(wiring.documents()),
        tasks=wiring.tasks(),
        stores=wiring.stores(),
        blobs=wiring.blobs(),
        index=LibraryIndex(vectors, embedder, awaits_embedder=True),
        file_index=FileIndex(vectors, embedder, awaits_embedder=True),
    )


@cache
def dead_letter_deps() -> DeadLetterDeps:
    return DeadLetterDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        stores=wiring.stores(),
        erasures=wiring.erasures(),
    )


def _build_claims() -> "Claims":
    from functions.process_conversation.processing.claims import Claims

    return Claims(wiring.documents(), wiring.clock(), wiring.new_id())


def _build_index() -> "LibraryIndex":
    from shared.data.library_index import LibraryIndex

    return LibraryIndex(wiring.vectors(), model_wiring.embedder())


def _build_search() -> "Search":
    from shared.data.search import Search

    return Search(wiring.documents(), wiring.vectors(), model_wiring.embedder())
