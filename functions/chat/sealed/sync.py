"""Sync of sealed chats in three phases, each of which can be resumed anywhere and repeated without harm.

First the chat that was changed last, whole; then the recent chats without their messages; then every chat in
the order of change. One that changes meanwhile comes again at the end, so the third phase misses
nothing, and its last cursor is where the next sync begins.

Also called: offline sync, delta sync, multi-device sync.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from functions.chat.deps import ChatDeps
from shared.data.store.paging import Page, format_cursor, parse_cursor
from shared.domain.chats.sealed_chat import SealedChat, SealedMessage
from shared.domain.errors import Invalid
from shared.domain.ids import UserId
from shared.domain.value import value

Phase = Literal[1, 2, 3]
RECENT_CHATS = 500
"""As many as a console lists of the other chats; deleted ones are told beside them."""
CHATS_PER_PAGE = 20
MESSAGES_PER_PAGE = 40
MAX_PAGE_BYTES = 1_000_000
SETTLING_TIME = timedelta(minutes=1)
"""Longer than any write takes, and than the clocks of two instances differ."""
_FIRST_ID = "-"
_SEPARATOR = "."
Position = tuple[datetime, str]


@value
class SyncedChat:
    """A chat with its messages, or some of them."""

    chat: SealedChat
    messages: Sequence[SealedMessage] = ()


@value
class SyncPage:
    """A page of a phase; its cursor leads on, from the end of the third phase to what changes later."""

    chats: Sequence[SyncedChat]
    cursor: str | None
    is_complete: bool


@value
class _Cursor:
    """After which chat a page begins, after which message of the next chat, and how many chats came before."""

    chat: Position | None = None
    message: Position | None = None
    chat_id: str = ""
    count: int = 0


async def read_page(deps: ChatDeps, uid: UserId, phase: Phase, cursor_text: str | None) -> SyncPage:
    """Read a page of a phase. Raises Invalid for a cursor that is not ours."""
    cursor = _parse(cursor_text)
    chats = deps.stores.sealed_chats
    match phase:
        case 1:
            page = await _build_page(deps, uid, await chats.list_newest(uid, limit=1), cursor)
            return replace(page, cursor=None) if page.is_complete else page
        case 2:
            return await _list_recent(deps, uid, cursor)
        case 3:
            changed = await chats.list_changed(uid, limit=CHATS_PER_PAGE, after=cursor.chat)
            page = await _build_page(deps, uid, changed, cursor)
            return _settle(page, deps.clock.now())


def _settle(page: SyncPage, now: datetime) -> SyncPage:
    """End a sync a little earlier: what is written at this moment may be dated before what was read."""
    last = _parse(page.cursor).chat
    if not page.is_complete or last is None:
        return page
    return replace(page, cursor=_format(_Cursor(chat=min(last, (now - SETTLING_TIME, _FIRST_ID)))))


async def _list_recent(deps: ChatDeps, uid: UserId, cursor: _Cursor) -> SyncPage:
    limit = max(1, min(CHATS_PER_PAGE, RECENT_CHATS - cursor.count))
    chats = await deps.stores.sealed_chats.list_newest(uid, limit=limit, after=cursor.chat)
    count = cursor.count + sum(not chat.is_deleted for chat in chats)
    is_complete = len(chats) < limit or count >= RECENT_CHATS
    following = None if is_complete else _format(_Cursor(chat=_locate(chats[-1]), count=count))
    synced = [SyncedChat(chat=chat) for chat in chats]
    return SyncPage(chats=synced, cursor=following, is_complete=is_complete)


async def _build_page(
    deps: ChatDeps, uid: UserId, chats: Sequence[SealedChat], cursor: _Cursor
) -> SyncPage:
    """Return chats with their messages, as many as fit; the last one may go on in the next page."""
    synced: list[SyncedChat] = []
    size_bytes = 0
    for chat in chats:
        after = cursor.message if cursor.chat_id == chat.id else None
        page = await _read_messages(deps, uid, chat, after)
        synced.append(SyncedChat(chat=chat, messages=page.items))
        if page.next is not None:
            cursor = replace(cursor, message=parse_cursor(page.next), chat_id=chat.id)
            return SyncPage(chats=synced, cursor=_format(cursor), is_complete=False)
        cursor = _Cursor(chat=_locate(chat))
        size_bytes += sum(len(message.ciphertext or b"") for message in page.items)
        if size_bytes > MAX_PAGE_BYTES:
            break
    is_complete = len(synced) == len(chats) < CHATS_PER_PAGE
    return SyncPage(chats=synced, cursor=_format(cursor), is_complete=is_complete)


async def _read_messages(
    deps: ChatDeps, uid: UserId, chat: SealedChat, after: Position | None
) -> Page[SealedMessage]:
    """Read a page of a chat, which the sync cache keeps where it is the whole chat."""
    if chat.is_deleted:
        return Page(items=[], next=None)
    now = deps.clock.now()
    if after is None:
        known = await deps.stores.sync_cache.find(uid, chat, now)
        if known is not None:
            return Page(items=known, next=None)
    page = await deps.stores.sealed_chats.list_messages(
        uid, chat.id, limit=MESSAGES_PER_PAGE, after=after
    )
    if after is None and page.next is None:
        await deps.stores.sync_cache.put(uid, chat, page.items, now)
    return page


def _locate(chat: SealedChat) -> Position:
    return chat.changed_at, chat.id


def _format(cursor: _Cursor) -> str:
    positions = [format_cursor(place) if place else "" for place in (cursor.chat, cursor.message)]
    return _SEPARATOR.join([*positions, cursor.chat_id, str(cursor.count)])


def _parse(text: str | None) -> _Cursor:
    """Raises Invalid."""
    if text is None:
        return _Cursor()
    parts = text.split(_SEPARATOR)
    if len(parts) != 4 or not (parts[3].isascii() and parts[3].isdecimal()):
        raise Invalid("The cursor is not one of this list; begin without one.")
    chat, message = (parse_cursor(part or None) for part in parts[:2])
    return _Cursor(chat=chat, message=message, chat_id=parts[2], count=int(parts[3][:4]))
