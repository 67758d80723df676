"""Library writes of apps: conversations and facts, marked as the app's and never as the owner's."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta

from functions.library.programs.integrations.integration_schemas import (
    ExternalConversationIn,
    FactIn,
)
from shared.domain.apps.app import App
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.conversations.derived_ids import build_derived_id
from shared.domain.errors import Conflict, Invalid, TooLarge
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.operation import Operation
from shared.library.conversation_schemas import MAX_SEGMENTS
from shared.library.deps import IntegrationDeps
from shared.library.exclusive_facts import find_exclusive_key
from shared.library.ingestion import ingest
from shared.library.memory_index import index_memories
from shared.library.validate_conversation import validate_conversation

DEFAULT_LENGTH = timedelta(minutes=5)
"""For a conversation without an end."""
_MAX_SPEAKER_CHARS = 64


def build_conversation(
    app: App, body: ExternalConversationIn, operation: Operation
) -> Conversation:
    """Build the same conversation on every attempt. Raises Invalid, TooLarge."""
    started_at = body.started_at or body.finished_at or operation.begun_at
    conversation = Conversation(
        id=ConversationId(operation.name),
        created_at=started_at,
        started_at=started_at,
        finished_at=body.finished_at or started_at + DEFAULT_LENGTH,
        source="external_integration",
        language=body.language or "en",
        transcript_segments=_split_into_segments(app, body.text),
        app_id=app.id,
    )
    validate_conversation(conversation, operation.begun_at)
    return conversation


def _split_into_segments(app: App, text: str) -> tuple[Segment, ...]:
    """Cut a text into lines whose speaker is the app, so that no person seems to have said them."""
    lines = [line.strip() for line in text.splitlines()]
    texts = [line for line in lines if line]
    if not texts:
        raise Invalid("text is required and cannot be empty")
    if len(texts) > MAX_SEGMENTS:
        raise TooLarge(f"The text must have at most {MAX_SEGMENTS} lines.")
    suffix = " (app)"
    speaker = app.name[: _MAX_SPEAKER_CHARS - len(suffix)] + suffix
    return tuple(Segment(text=line, speaker=speaker) for line in texts)


async def store_conversation(
    deps: IntegrationDeps, uid: UserId, conversation: Conversation
) -> None:
    """Store a conversation to process; a repeat does not undo the owner's changes."""
    with suppress(Conflict):  # the owner changed it since an earlier attempt
        await ingest(deps, uid, conversation)


async def store_facts(
    deps: IntegrationDeps, uid: UserId, app: App, facts: Iterable[FactIn], at: datetime
) -> None:
    """Store facts in the app's words; a repeat changes nothing."""
    for fact in facts:
        await _add_memory(deps, uid, app, fact, at)


async def _add_memory(
    deps: IntegrationDeps, uid: UserId, app: App, fact: FactIn, at: datetime
) -> None:
    """Store a fact once; one that the owner changed or deleted since stays so."""
    text = " ".join(fact.content.split())
    memory = Memory(
        id=MemoryId(build_derived_id(app.id, "app memory", fact.content)),
        content=text,
        category="interesting",
        created_at=at,
        updated_at=at,
        app_id=app.id,
        tags=fact.tags,
        aspect=find_exclusive_key(text),
        read_kinds=("app",),
    )
    if await deps.stores.memories.has_tombstone(uid, memory.id):
        return
    try:
        stored_memory = await deps.stores.memories.add(uid, memory)
    except Conflict:
        return
    await index_memories(deps.stores.memories, deps.index, uid, [stored_memory])
