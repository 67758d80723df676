"""Routes of entry points that share a file: each is imported with the first request of its own."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shared.edge.declare.routes import Route

if TYPE_CHECKING:
    from functions.process_conversation.deps import (
        AppRequestDeps,
        DayDeps,
        DeadLetterDeps,
        EraseDeps,
        ExpireUploadDeps,
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


def load_library_routes() -> Sequence["Route[LibraryDeps]"]:
    """Return every public route of the library."""
    from functions.process_conversation.routes import LIBRARY_ROUTES

    return LIBRARY_ROUTES


def load_on_conversation_written_routes() -> Sequence["Route[TriggerDeps]"]:
    from functions.process_conversation.processing.processing_routes import TRIGGER_ROUTES

    return TRIGGER_ROUTES


def load_process_conversation_routes() -> Sequence["Route[ProcessDeps]"]:
    from functions.process_conversation.processing.processing_routes import PROCESS_ROUTES

    return PROCESS_ROUTES


def load_sweep_routes() -> Sequence["Route[SweepDeps]"]:
    from functions.process_conversation.processing.processing_routes import SWEEP_ROUTES

    return SWEEP_ROUTES


def load_record_dead_letter_routes() -> Sequence["Route[DeadLetterDeps]"]:
    from functions.process_conversation.processing.processing_routes import DEAD_LETTER_ROUTES

    return DEAD_LETTER_ROUTES


def load_integrations_routes() -> Sequence["Route[AppRequestDeps]"]:
    from functions.process_conversation.integrations.integration_routes import ROUTES

    return ROUTES


def load_mcp_routes() -> Sequence["Route[LibraryDeps]"]:
    from functions.process_conversation.mcp_server.routes import MCP_ROUTES

    return MCP_ROUTES


def load_summarise_day_routes() -> Sequence["Route[DayDeps]"]:
    from functions.process_conversation.summaries.summary_routes import DAY_ROUTES

    return DAY_ROUTES


def load_finish_merge_routes() -> Sequence["Route[MergeDeps]"]:
    from functions.process_conversation.library.merge_routes import FINISH_ROUTES

    return FINISH_ROUTES


def load_mark_owner_routes() -> Sequence["Route[MarkingDeps]"]:
    from functions.process_conversation.library.own_names import MARKING_ROUTES

    return MARKING_ROUTES


def load_apply_retention_routes() -> Sequence["Route[RetentionDeps]"]:
    from functions.process_conversation.library.account import RETENTION_ROUTES

    return RETENTION_ROUTES


def load_transcribe_audio_routes() -> Sequence["Route[TranscribeDeps]"]:
    from functions.process_conversation.speech.audio_routes import TRANSCRIBE_ROUTES

    return TRANSCRIBE_ROUTES


def load_expire_upload_routes() -> Sequence["Route[ExpireUploadDeps]"]:
    from functions.process_conversation.uploads.upload_routes import EXPIRE_ROUTES

    return EXPIRE_ROUTES


def load_import_files_routes() -> Sequence["Route[ImportDeps]"]:
    from functions.process_conversation.imports.import_routes import IMPORT_FILES_ROUTES

    return IMPORT_FILES_ROUTES


def load_reindex_users_routes() -> Sequence["Route[ReindexDeps]"]:
    from functions.process_conversation.reindexing.reindex_routes import REINDEX_ROUTES

    return REINDEX_ROUTES


def load_erase_account_routes() -> Sequence["Route[EraseDeps]"]:
    from functions.process_conversation.library.account import ERASE_ROUTES

    return ERASE_ROUTES
