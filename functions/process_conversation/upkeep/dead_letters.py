"""Dead letters: a record of each message that was given up, and the mark on its conversation.

Also called: dead letter queue, DLQ, poison messages.
"""

from functions.process_conversation.deps import DeadLetterDeps
from functions.process_conversation.processing.mark_failed import mark_given_up
from shared import telemetry
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.dead_letter import DeadLetter


async def record_dead_letter(deps: DeadLetterDeps, letter: DeadLetter) -> None:
    """Store a dead letter and mark its conversation as failed; nothing of somebody who was erased since.

    Raises Unavailable while an attempt still processes the conversation: call again.
    """
    telemetry.warning("dead_letter", letter=letter.id, target=letter.target, name=letter.name)
    if await _is_erased(deps, letter):
        return
    await deps.stores.dead_letters.put(letter)
    match letter.ids:
        case {"uid": str(uid), "conversation_id": str(conversation_id)}:
            await mark_given_up(deps, UserId(uid), ConversationId(conversation_id), letter.attempts)


async def _is_erased(deps: DeadLetterDeps, letter: DeadLetter) -> bool:
    """Tell whether whom it concerns was erased after its message was sent: messages are tried for hours."""
    erasure = await deps.erasures.get(letter.uid) if letter.uid else None
    return erasure is not None and erasure.refuses(letter.first_at)
