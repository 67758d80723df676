"""Sharing of a conversation: a link by which anyone may read it, as JSON and as a page.

Also called: share link, public link.
"""

from anyio import to_thread
from starlette.responses import HTMLResponse

from functions.library.sharing.shared_page import render_conversation, render_not_found
from functions.library.sharing.sharing_schemas import (
    ConversationVisibilityQuery,
    SharedConversationOut,
    ShareOut,
)
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import NotFound
from shared.domain.ids import ConversationId
from shared.edge.declare.routes import Call, route
from shared.library.deps import LibraryDeps

NOT_SHARED = "This conversation is not shared."


@route(
    "PATCH",
    "/v1/conversations/{conversation_id}/visibility",
    "Share a conversation by a link, or end its link",
    errors=(401, 404, 422),
)
async def change_visibility(
    deps: LibraryDeps, call: Call[None, ConversationVisibilityQuery]
) -> ShareOut:
    """A link that was ended never leads anywhere again: sharing once more makes another."""
    shares, conversation_id = (
        deps.stores.shared_conversations,
        ConversationId(call.path["conversation_id"]),
    )
    if call.query.value == "private":
        await shares.unshare(call.uid, conversation_id)
        return ShareOut(visibility="private", url=None)
    token = await shares.share(call.uid, conversation_id, deps.new_id(), now=deps.clock.now())
    return ShareOut(visibility="shared", url=f"{deps.public_url}/shared/conversations/{token}")


@route(
    "GET",
    "/v1/conversations/shared/{token}",
    "Read a shared conversation; no sign-in is needed",
    access="anyone",
    errors=(404, 429),
)
async def read_shared(deps: LibraryDeps, call: Call) -> SharedConversationOut:
    conversation = await _find_shared(deps, call.path["token"])
    return await to_thread.run_sync(SharedConversationOut.of, conversation)


@route(
    "GET",
    "/shared/conversations/{token}",
    "Show a shared conversation to people; no sign-in is needed",
    access="anyone",
    errors=(404, 429),
    media_type="text/html",
)
async def show_shared(deps: LibraryDeps, call: Call) -> HTMLResponse:
    try:
        conversation = await _find_shared(deps, call.path["token"])
    except NotFound:
        return render_not_found(NOT_SHARED)
    return await to_thread.run_sync(render_conversation, conversation)


async def _find_shared(deps: LibraryDeps, token: str) -> Conversation:
    """Return the conversation of a link. Raises NotFound for whatever does not hold, and TooMany.

    The answer is the same for a guessed link, an ended one, and one whose conversation or account
    is gone.
    """
    link = await deps.stores.shared_conversations.find(token)
    if link is None:
        raise NotFound(NOT_SHARED)
    deps.share_rate_limiter.check(link.id, deps.clock.now())
    erasure = await deps.erasures.get(link.uid)
    if erasure is not None and erasure.refuses(link.created_at):
        raise NotFound(NOT_SHARED)
    try:
        conversation = await deps.stores.conversations.get(link.uid, link.conversation_id)
    except NotFound:
        raise NotFound(NOT_SHARED) from None
    if conversation.share_token != token:
        raise NotFound(NOT_SHARED)
    return conversation


ROUTES = (read_shared, show_shared, change_visibility)
