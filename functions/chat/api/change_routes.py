"""Routes of library changes: undo what an answer changed in the owner's library."""

from functions.chat.api.message_schemas import LibraryChangeOut, to_library_change_out
from functions.chat.deps import ChatDeps
from shared.domain.conversations.daily_summary import DailySummarySettings
from shared.domain.ids import MessageId
from shared.domain.memories.memory import Memory
from shared.edge.declare.routes import Call, route
from shared.library.memory_index import sync_rows
from shared.library.summary_schedule import schedule_recent_days


@route(
    "POST",
    "/v1/messages/{message_id}/changes/{change_id}/undo",
    "Undo a change that an answer made in the library",
    errors=(404, 409),
)
async def undo_change(deps: ChatDeps, call: Call) -> LibraryChangeOut:
    change = await deps.stores.library_changes.undo(
        call.uid, MessageId(call.path["message_id"]), call.path["change_id"]
    )
    if isinstance(change.after, DailySummarySettings):
        profile = await deps.stores.profiles.get(call.uid)
        await schedule_recent_days(deps.tasks, call.uid, profile, deps.clock.now())
    if isinstance(change.after, Memory):
        await sync_rows(deps.stores.memories, deps.index, call.uid, [change.after])
    return to_library_change_out(change)


ROUTES = (undo_change,)
