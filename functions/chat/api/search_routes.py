"""Route of the search in chats."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from functions.chat.api.session_schemas import SessionOut, to_session_out
from functions.chat.deps import ChatDeps
from functions.chat.sessions.chat_search import ChatHit, search_chats
from shared.domain.chats.chat import Message
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire


class ChatSearchQuery(Wire):
    """`cursor` is the `next_cursor` of the page before."""

    query: Annotated[str, Field(min_length=1, max_length=200)]
    cursor: Annotated[str | None, Field(max_length=200)] = None


class FoundMessageOut(Wire):
    """A message, of any version; `excerpt` is what stands around the words, in one line."""

    id: str
    sender: Literal["ai", "human"]
    created_at: datetime
    excerpt: str


class ChatHitOut(Wire):
    """A chat whose title has the words, or one of its messages that has."""

    chat: SessionOut
    message: FoundMessageOut | None


class ChatHitsOut(Wire):
    """A page; with `next_cursor`, older messages are not searched yet, even where `items` is empty."""

    items: list[ChatHitOut]
    next_cursor: str | None


@route(
    "GET",
    "/v1/chats/search",
    "Search chats by their titles and messages: every word, the newest first",
)
async def search_in_chats(deps: ChatDeps, call: Call[None, ChatSearchQuery]) -> ChatHitsOut:
    page = await search_chats(deps, call.uid, call.query.query, after=call.query.cursor)
    return ChatHitsOut(items=[_to_hit_out(hit) for hit in page.items], next_cursor=page.next)


def _to_hit_out(hit: ChatHit) -> ChatHitOut:
    message = _to_found_out(hit.message, hit.excerpt) if hit.message is not None else None
    return ChatHitOut(chat=to_session_out(hit.session), message=message)


def _to_found_out(message: Message, excerpt: str) -> FoundMessageOut:
    return FoundMessageOut(
        id=message.id, sender=message.sender, created_at=message.created_at, excerpt=excerpt
    )


ROUTES = (search_in_chats,)
