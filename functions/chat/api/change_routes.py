"""Routes of library changes: undo what an answer changed in the owner's library."""

from functions.chat.api.message_schemas import LibraryChangeOut, to_library_change_out
from functions.chat.commands import undo
from functions.chat.deps import ChatDeps
from shared.domain.ids import MessageId
from shared.edge.declare.routes import Call, route


@route(
    "POST",
    "/v1/messages/{message_id}/changes/{change_id}/undo",
    "Undo a change that an answer made in the library",
    errors=(404, 409),
)
async def undo_change(deps: ChatDeps, call: Call) -> LibraryChangeOut:
    message_id = MessageId(call.path["message_id"])
    change = await undo.undo_change(deps, call.uid, message_id, call.path["change_id"])
    return to_library_change_out(change)


ROUTES = (undo_change,)
