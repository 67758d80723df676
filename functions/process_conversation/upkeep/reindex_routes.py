"""Internal route of a reindexing: the tasks of its pages, and of the steps of each user."""

from functions.process_conversation.deps import ReindexDeps
from functions.process_conversation.upkeep.reindex_schemas import ReindexIn
from functions.process_conversation.upkeep.reindex_users import list_users, reindex_user
from shared import telemetry
from shared.domain.conversations.reindexing import ReindexStep
from shared.edge.declare.routes import Call, route


@route("POST", "/", "The rows of users are to be built anew", access="service", status=204)
async def on_reindexing(deps: ReindexDeps, call: Call[ReindexIn]) -> None:
    body = call.body
    if body.uid is None:
        await list_users(deps, body.attempt, body.page)
        return
    telemetry.add_fields(uid=telemetry.hash_id(body.uid))
    step = ReindexStep(attempt=body.attempt, uid=body.uid, part=body.part, cursor=body.cursor)
    await reindex_user(deps, step)


REINDEX_ROUTES = (on_reindexing,)
