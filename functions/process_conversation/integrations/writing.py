"""What an app adds to a user's library: labelled as the app's, and nothing of it the owner's word."""

from contextlib import suppress
from datetime import datetime, timedelta

from functions.process_conversation.identity import derived_id
from functions.process_conversation.integrations.wire import ExternalConversationIn
from functions.process_conversation.library.checks import check
from functions.process_conversation.memory_rows import put_rows
from functions.process_conversation.wire import MAX_SEGMENTS
from functions.process_conversation.wiring import IntegrationDeps
from shared.domain.app import App
from shared.domain.conversation import Conversation, Segment
from shared.domain.errors import Conflict, Invalid, TooLarge
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memory import Memory
from shared.domain.operation import Operation
from shared.domain.value import value

LENGTH = timedelta(minutes=5)
"""What an app hands in without an end."""
_SPEAKER_CHARS = 64


@value
class Addition:
    """Facts in the app's words, and a conversation that is yet to be processed."""

    facts: tuple[str, ...] = ()
    conversation: Conversation | None = None


def conversation_of(app: App, said: ExternalConversationIn, operation: Operation) -> Conversation:
    """Build the same conversation on every attempt. Raises Invalid, TooLarge."""
    started_at = said.started_at or said.finished_at or operation.begun_at
    conversation = Conversation(
        id=ConversationId(operation.name),
        created_at=started_at,
        started_at=started_at,
        finished_at=said.finished_at or started_at + LENGTH,
        source="external_integration",
        language=said.language or "en",
        transcript_segments=_segments(app, said.text),
        app_id=app.id,
    )
    check(conversation, operation.begun_at)
    return conversation


def _segments(app: App, text: str) -> tuple[Segment, ...]:
    """Cut a text into its lines, which the app speaks: nobody takes them for a person's words."""
    lines = [line.strip() for line in text.splitlines()]
    spoken = [line for line in lines if line]
    if not spoken:
        raise Invalid("text is required and cannot be empty")
    if len(spoken) > MAX_SEGMENTS:
        raise TooLarge(f"text: at most {MAX_SEGMENTS} lines")
    suffix = " (app)"
    speaker = app.name[: _SPEAKER_CHARS - len(suffix)] + suffix
    return tuple(Segment(text=line, speaker=speaker) for line in spoken)


async def add(deps: IntegrationDeps, uid: UserId, app: App, new: Addition, at: datetime) -> None:
    """Store what an app hands in; again, it is there already, as its owner left it."""
    for content in new.facts:
        await _remember(deps, uid, app, content, at)
    if new.conversation is not None:
        with suppress(Conflict):  # its owner changed it since an earlier attempt
            await deps.conversations.add(uid, new.conversation)


async def _remember(
    deps: IntegrationDeps, uid: UserId, app: App, content: str, at: datetime
) -> None:
    """Store a fact, once; what the owner changed or deleted since stays as they left it."""
    memory = Memory(
        id=MemoryId(derived_id(app.id, "app memory", content)),
        content=" ".join(content.split()),
        category="interesting",
        created_at=at,
        updated_at=at,
        app_id=app.id,
    )
    if await deps.memories.is_forgotten(uid, memory.id):
        return
    try:
        stored = await deps.memories.add(uid, memory)
    except Conflict:
        return
    await put_rows(deps.memories, deps.index, uid, [stored])
