"""Reading of notes: what follows an answer, once it is there, and questions to begin a chat with."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import timedelta
from itertools import chain, zip_longest

from functions.chat.deps import ChatDeps
from functions.chat.notes.suggested_actions import is_open
from functions.chat.notes.suggested_questions import MAX_SUGGESTIONS
from shared.domain.account.profile import Profile
from shared.domain.chats.chat import CORRECTS_KEY, Message, Session
from shared.domain.chats.chat_notes import AnswerNotes, SuggestedAction
from shared.domain.chats.storage_mode import is_private
from shared.domain.errors import NotFound
from shared.domain.ids import MemoryId, MessageId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.value import value
from shared.domain.words import build_wording, normalise

WAITING_TIME = timedelta(minutes=10)
"""After that nothing more is expected to follow an answer."""
PAUSES_S = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
"""Between two looks for notes: half a minute together."""
MAX_CHATS = 5
"""Number of the newest chats that say how to begin another."""


@value
class ShownNotes:
    """The notes of an answer and its chat; `memories` are the entries that its actions are about."""

    session: Session
    notes: AnswerNotes
    memories: Mapping[MemoryId, Memory]


async def read_notes(deps: ChatDeps, uid: UserId, message_id: MessageId) -> ShownNotes | None:
    """Return what follows an answer; None while it may still come. Raises NotFound.

    Actions that the owner has made meanwhile, or whose memory is gone, are left out; so is what followed an
    answer before they wanted something forgotten, which it may tell.
    """
    message = await deps.stores.messages.get(uid, message_id)
    if message.sender != "ai":
        raise NotFound("Message not found")
    profile = await deps.stores.profiles.get(uid)
    is_forgotten = profile.has_forgotten(message.created_at)
    if message.notes is None and not is_forgotten and _is_awaited(deps, message):
        return None
    session = await deps.stores.sessions.get(uid, message.session_id)
    if session is None:
        raise NotFound("Chat session not found")
    notes = AnswerNotes() if is_forgotten or message.notes is None else message.notes
    actions, memories = await _select_open(deps, uid, notes.actions, profile)
    open_notes = AnswerNotes(
        follow_ups=notes.follow_ups,
        next_steps=notes.next_steps,
        actions=tuple(actions),
        new_categories=notes.new_categories,
    )
    return ShownNotes(session=session, notes=open_notes, memories=memories)


async def wait_for_notes(
    deps: ChatDeps, uid: UserId, message_id: MessageId
) -> AsyncGenerator[ShownNotes, None]:
    """Yield what follows an answer once it is there, and nothing where that takes too long.

    Notes are made by another process, so the store is read again after growing pauses.
    """
    for pause_s in PAUSES_S:
        shown = await read_notes(deps, uid, message_id)
        if shown is not None:
            yield shown
            return
        await deps.clock.sleep(pause_s)


def _is_awaited(deps: ChatDeps, message: Message) -> bool:
    is_recent = deps.clock.now() < message.created_at + WAITING_TIME
    is_first = CORRECTS_KEY not in message.metadata
    return message.is_noted and is_recent and is_first and not is_private(message.session_id)


async def _select_open(
    deps: ChatDeps, uid: UserId, actions: Sequence[SuggestedAction], profile: Profile
) -> tuple[Sequence[SuggestedAction], Mapping[MemoryId, Memory]]:
    if not actions:
        return (), {}
    entry_ids = [action.entry_id for action in actions if action.entry_id]
    facts = [action.arguments["content"] for action in actions if "content" in action.arguments]
    wordings = sorted({build_wording(fact) for fact in facts})
    entries, same_wording = await asyncio.gather(
        deps.stores.memories.get_many(uid, entry_ids),
        deps.stores.memories.list_by_values(uid, "wording", wordings),
    )
    memories = [m for m in (*entries.values(), *same_wording) if m.is_current]
    shown = [action for action in actions if is_open(action, memories, profile)]
    return shown, {memory.id: memory for memory in memories}


async def suggest_chats(deps: ChatDeps, uid: UserId) -> Sequence[str]:
    """Return questions to begin a chat with, those of the newest chats in turn, each once."""
    page = await deps.stores.sessions.list_page(uid, limit=MAX_CHATS)
    of_chats = (chat.notes.new_chats for chat in page.items if chat.app_id is None)
    in_turn = filter(None, chain.from_iterable(zip_longest(*of_chats)))
    unique = {normalise(text): text for text in reversed(list(in_turn))}
    return list(reversed(unique.values()))[:MAX_SUGGESTIONS]
