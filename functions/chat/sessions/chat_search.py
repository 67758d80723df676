"""Search in chats: titles, and messages of all versions, from the newest back.

Also called: message search.
"""

from asyncio import gather
from collections.abc import Sequence

from anyio import to_thread

from functions.chat.context.word_match import WantedWord, build_excerpt, has_words, parse_words
from functions.chat.deps import ChatDeps
from shared.data.store.paging import Page, format_cursor
from shared.domain.chats.chat import Message, Session
from shared.domain.errors import Invalid
from shared.domain.ids import UserId
from shared.domain.value import value

MAX_SEARCHED_MESSAGES = 1_000
"""Messages that one request reads; the next page reads on."""
MAX_SEARCHED_TITLES = 500
MAX_HITS = 50


@value
class ChatHit:
    """A chat, found by its title, or by the excerpt of a message."""

    session: Session
    message: Message | None = None
    excerpt: str = ""


async def search_chats(
    deps: ChatDeps, uid: UserId, query: str, *, after: str | None
) -> Page[ChatHit]:
    """Return a page of chats and messages with all words of a query, titles first, then the newest.

    A page may be empty and still have a next one. Raises Invalid for a query without words.
    """
    wanted = parse_words(query)
    if not wanted:
        raise Invalid("Write at least one word to search for.")
    titled, messages = await gather(
        _find_titled(deps, uid, wanted) if after is None else _find_nothing(),
        deps.stores.messages.list_page(uid, limit=MAX_SEARCHED_MESSAGES, after=after),
    )
    found = await to_thread.run_sync(_select_matching, messages.items, wanted)
    shown = found[:MAX_HITS]
    hits = await _build_hits(deps, uid, shown, wanted)
    is_cut = len(found) > len(shown)
    return Page(
        items=[*titled, *hits],
        next=format_cursor(shown[-1].position) if is_cut else messages.next,
    )


async def _find_titled(
    deps: ChatDeps, uid: UserId, wanted: Sequence[WantedWord]
) -> Sequence[ChatHit]:
    page = await deps.stores.sessions.list_page(uid, limit=MAX_SEARCHED_TITLES)
    return [ChatHit(session=session) for session in page.items if has_words(session.title, wanted)]


async def _find_nothing() -> Sequence[ChatHit]:
    return ()


def _select_matching(
    messages: Sequence[Message], wanted: Sequence[WantedWord]
) -> Sequence[Message]:
    """Select at most one more than are shown."""
    found: list[Message] = []
    for message in messages:
        if has_words(message.text, wanted):
            found.append(message)
        if len(found) > MAX_HITS:
            break
    return found


async def _build_hits(
    deps: ChatDeps, uid: UserId, messages: Sequence[Message], wanted: Sequence[WantedWord]
) -> Sequence[ChatHit]:
    """Add its chat to each message; those whose chat is just being deleted are left out."""
    session_ids = dict.fromkeys(message.session_id for message in messages)
    sessions = {s.id: s for s in await deps.stores.sessions.get_many(uid, list(session_ids))}
    return [
        ChatHit(
            session=sessions[message.session_id],
            message=message,
            excerpt=build_excerpt(message.text, wanted),
        )
        for message in messages
        if message.session_id in sessions
    ]
