"""Sharing of a chat: a link by which anyone may read it, as it was when it was shared.

Also called: chat snapshot.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import dropwhile
from typing import Literal

from functions.library.sharing.sharing_schemas import ShareOut
from shared.domain.chats.branches import build_path_to, build_shown_path
from shared.domain.chats.chat import Message, Session
from shared.domain.chats.shared_chat import SharedChat
from shared.domain.errors import NotFound
from shared.domain.ids import SessionId, UserId
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.library.deps import LibraryDeps

NO_CHAT = "Chat session not found"
NOT_SHARED = "This chat is not shared."
MAX_MESSAGES = 1_000


class SharedMessageOut(Wire):
    """A message: its words alone, without sources, tools and ids."""

    sender: Literal["human", "ai"]
    text: str
    created_at: datetime


class SharedChatOut(Wire):
    """A shared chat, oldest message first; `is_complete` tells whether it has no earlier ones."""

    title: str
    shared_at: datetime
    messages: list[SharedMessageOut]
    is_complete: bool


@route(
    "PUT",
    "/v1/shared-chats/{session_id}",
    "Share a chat by a link, as it is now; a link that it has shows what it is now",
    errors=(401, 404),
)
async def share_chat(deps: LibraryDeps, call: Call) -> ShareOut:
    """What follows later, and other versions, are not shown."""
    session = await _get_session(deps, call.uid, call.path["session_id"])
    path = build_shown_path(session.forks)
    newest = await deps.stores.messages.list_newest(call.uid, session.id, limit=1, path=path)
    if not newest:
        raise NotFound(NO_CHAT)
    link = SharedChat(
        id=deps.new_id(),
        uid=call.uid,
        session_id=session.id,
        title=session.title,
        branch=path.tip,
        until=newest[0].position,
        created_at=deps.clock.now(),
    )
    token = await deps.stores.shared_chats.share(link)
    return ShareOut(visibility="shared", url=f"{deps.public_url}/read/#{token}")


@route(
    "DELETE",
    "/v1/shared-chats/{session_id}",
    "End the link of a chat",
    errors=(401, 404),
)
async def unshare_chat(deps: LibraryDeps, call: Call) -> ShareOut:
    """A link that was ended never leads anywhere again: sharing once more makes another."""
    await deps.stores.shared_chats.unshare(call.uid, SessionId(call.path["session_id"]))
    return ShareOut(visibility="private", url=None)


@route(
    "GET",
    "/shared/chats/{token}",
    "Read a shared chat; no sign-in is needed",
    access="anyone",
    errors=(404, 429),
)
async def read_shared_chat(deps: LibraryDeps, call: Call) -> SharedChatOut:
    link, session = await _find_shared(deps, call.path["token"])
    newest_first = await _list_messages(deps, link, session)
    return SharedChatOut(
        title=link.title,
        shared_at=link.created_at,
        messages=[_to_message_out(m) for m in _list_from_question(newest_first[:MAX_MESSAGES])],
        is_complete=len(newest_first) <= MAX_MESSAGES,
    )


def _list_from_question(newest_first: Sequence[Message]) -> Iterator[Message]:
    """List messages from the first question on: what stands before greets the owner by name."""
    return dropwhile(lambda message: message.sender == "ai", reversed(newest_first))


async def _get_session(deps: LibraryDeps, uid: UserId, session_id: str) -> Session:
    session = await deps.stores.sessions.get(uid, SessionId(session_id))
    if session is None:
        raise NotFound(NO_CHAT)
    return session


async def _find_shared(deps: LibraryDeps, token: str) -> tuple[SharedChat, Session]:
    """Return a link and its chat. Raises NotFound for whatever does not hold, and TooMany.

    The answer is the same for a guessed link, an ended one, and one whose chat or account is gone.
    """
    link = await deps.stores.shared_chats.find(token)
    if link is None:
        raise NotFound(NOT_SHARED)
    deps.share_rate_limiter.check(link.id, deps.clock.now())
    erasure = await deps.erasures.get(link.uid)
    if erasure is not None and erasure.refuses(link.created_at):
        raise NotFound(NOT_SHARED)
    session = await deps.stores.sessions.get(link.uid, link.session_id)
    if session is None or session.share_token != token:
        raise NotFound(NOT_SHARED)
    return link, session


async def _list_messages(
    deps: LibraryDeps, link: SharedChat, session: Session
) -> Sequence[Message]:
    """Return what the link shows, newest first, and one message more than a page has."""
    messages = deps.stores.messages
    try:
        last = await messages.get(link.uid, link.last_message_id)
    except NotFound:
        raise NotFound(NOT_SHARED) from None
    path = build_path_to(session.forks, link.branch)
    earlier = await messages.list_newest(
        link.uid, session.id, limit=MAX_MESSAGES, before=link.until, path=path
    )
    return [last, *earlier]


def _to_message_out(message: Message) -> SharedMessageOut:
    return SharedMessageOut(sender=message.sender, text=message.text, created_at=message.created_at)


ROUTES = (read_shared_chat, share_chat, unshare_chat)
