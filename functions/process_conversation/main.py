"""Entry points: the trigger and what follows it, the tasks of the library, and what apps and agents read."""

from functions.process_conversation import late_routes
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
from shared.edge.serve.entry_point import serve_late

start()

on_conversation_written = serve_late(
    "on_conversation_written", late_routes.load_on_conversation_written_routes, trigger_deps
)
process_conversation = serve_late(
    "process_conversation", late_routes.load_process_conversation_routes, process_deps
)
sweep = serve_late("sweep", late_routes.load_sweep_routes, sweep_deps)
record_dead_letter = serve_late(
    "record_dead_letter", late_routes.load_record_dead_letter_routes, dead_letter_deps
)
integrations = serve_late("integrations", late_routes.load_integrations_routes, integration_deps)
mcp = serve_late("mcp", late_routes.load_mcp_routes, library_deps)
summarise_day = serve_late("summarise_day", late_routes.load_summarise_day_routes, day_deps)
finish_merge = serve_late("finish_merge", late_routes.load_finish_merge_routes, merge_deps)
mark_owner = serve_late("mark_owner", late_routes.load_mark_owner_routes, marking_deps)
apply_retention = serve_late(
    "apply_retention", late_routes.load_apply_retention_routes, retention_deps
)
transcribe_audio = serve_late(
    "transcribe_audio", late_routes.load_transcribe_audio_routes, transcribe_deps
)
expire_upload = serve_late(
    "expire_upload", late_routes.load_expire_upload_routes, expire_upload_deps
)
import_files = serve_late("import_files", late_routes.load_import_files_routes, import_deps)
reindex_users = serve_late("reindex_users", late_routes.load_reindex_users_routes, reindex_deps)
erase_account = serve_late("erase_account", late_routes.load_erase_account_routes, erase_deps)
