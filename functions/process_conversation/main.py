"""Entry points: the trigger and what follows it, and the user's library over HTTP and MCP."""

from functions.process_conversation.imports.import_routes import IMPORT_FILES_ROUTES
from functions.process_conversation.library.account import ERASE_ROUTES, RETENTION_ROUTES
from functions.process_conversation.library.merge_routes import FINISH_ROUTES
from functions.process_conversation.library.own_names import MARKING_ROUTES
from functions.process_conversation.processing.processing_routes import (
    DEAD_LETTER_ROUTES,
    PROCESS_ROUTES,
    SWEEP_ROUTES,
    TRIGGER_ROUTES,
)
from functions.process_conversation.reindexing.reindex_routes import REINDEX_ROUTES
from functions.process_conversation.routes import INTEGRATION_ROUTES, LIBRARY_ROUTES, MCP_ROUTES
from functions.process_conversation.speech.audio_routes import TRANSCRIBE_ROUTES
from functions.process_conversation.summaries.summary_routes import DAY_ROUTES
from functions.process_conversation.uploads.upload_routes import EXPIRE_ROUTES
from functions.process_conversation.wiring import (
    day_deps,
    dead_letter_deps,
    erase_deps,
    expire_upload_deps,
    import_deps,
    integration_deps,
    library_deps,
    marking_deps,
    merge_deps,
    process_deps,
    reindex_deps,
    retention_deps,
    start,
    sweep_deps,
    transcribe_deps,
    trigger_deps,
)
from shared.edge.entry_point import serve
from shared.wiring import cors_origins

start()

on_conversation_written = serve("on_conversation_written", TRIGGER_ROUTES, trigger_deps)
process_conversation = serve("process_conversation", PROCESS_ROUTES, process_deps)
sweep = serve("sweep", SWEEP_ROUTES, sweep_deps)
record_dead_letter = serve("record_dead_letter", DEAD_LETTER_ROUTES, dead_letter_deps)
library = serve("library", LIBRARY_ROUTES, library_deps, cors_origins=cors_origins)
integrations = serve("integrations", INTEGRATION_ROUTES, integration_deps)
mcp = serve("mcp", MCP_ROUTES, library_deps)
summarise_day = serve("summarise_day", DAY_ROUTES, day_deps)
finish_merge = serve("finish_merge", FINISH_ROUTES, merge_deps)
mark_owner = serve("mark_owner", MARKING_ROUTES, marking_deps)
apply_retention = serve("apply_retention", RETENTION_ROUTES, retention_deps)
transcribe_audio = serve("transcribe_audio", TRANSCRIBE_ROUTES, transcribe_deps)
expire_upload = serve("expire_upload", EXPIRE_ROUTES, expire_upload_deps)
import_files = serve("import_files", IMPORT_FILES_ROUTES, import_deps)
reindex_users = serve("reindex_users", REINDEX_ROUTES, reindex_deps)
erase_account = serve("erase_account", ERASE_ROUTES, erase_deps)
