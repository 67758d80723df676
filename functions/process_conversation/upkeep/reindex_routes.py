"""Internal route of a reindexing: the tasks of its pages, and of the steps of each user."""

from functions.process_conversation.deps import ReindexDeps
from functions.process_conversation.upkeep.reindex_users import list_users, reindex_user
from shared import telemetry
from shared.domain.conversations.reindexing import PARTS, Part, ReindexStep
from shared.domain.ids import UserId
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire


class ReindexIn(Wire):
    """A page of users; with `uid` a step of that user, which begins at `cursor`."""

    attempt: str
    page: int = 0
    uid: UserId | None = None
    part: Part = PARTS[0]
    cursor: str | None = None


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
