"""Merges over HTTP: merge conversations, undo that, and make it final when its hour is over."""

from functions.library.conversations.merge_schemas import MergeIn, MergeOut
from shared.domain.ids import ConversationId
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library.deps import LibraryDeps
from shared.library.merging import merge, undo_merge


@route(
    "POST",
    "/v1/conversations/merge",
    "Make one conversation of several; for an hour this can be undone",
    errors=(400, 401, 404, 409, 413, 415, 422),
)
async def merge_conversations(deps: LibraryDeps, call: CreatingCall[MergeIn]) -> MergeOut:
    ids = [ConversationId(name) for name in call.body.conversation_ids]
    return MergeOut.of(await merge(deps, call.uid, ids))


@route("GET", "/v1/conversations/merges", "List the merges that can still be undone, newest first")
async def list_merges(deps: LibraryDeps, call: Call) -> list[MergeOut]:
    merges = await deps.stores.merges.list_undoable(call.uid, deps.clock.now())
    return [MergeOut.of(one) for one in merges]


@route(
    "POST",
    "/v1/conversations/{conversation_id}/undo-merge",
    "Bring back the conversations that were merged into this one",
    errors=(401, 404),
)
async def undo(deps: LibraryDeps, call: Call) -> MergeOut:
    undone = await undo_merge(deps, call.uid, ConversationId(call.path["conversation_id"]))
    return MergeOut(
        status="undone",
        message="The conversations are back.",
        conversation_ids=[*undone.source_ids],
        merged_conversation_id=undone.id,
        can_be_undone_until=None,
    )


ROUTES = (merge_conversations, list_merges, undo)
