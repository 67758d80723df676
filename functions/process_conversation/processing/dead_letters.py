"""Dead letters: a record of each message that was given up, and the mark on its conversation."""

from functions.process_conversation.deps import DeadLetterDeps
from functions.process_conversation.processing.mark_failed import mark_given_up
from shared import telemetry
from shared.domain.dead_letter import DeadLetter
from shared.domain.ids import ConversationId, UserId


async def record_dead_letter(deps: DeadLetterDeps, letter: DeadLetter) -> None:
    """Store a dead letter and mark its conversation as failed.

    Raises Unavailable while an attempt still processes the conversation: call again.
    """
    telemetry.warning("dead_letter", letter=letter.id, target=letter.target, name=letter.name)
    await deps.stores.dead_letters.put(letter)
    match letter.ids:
        case {"uid": str(uid), "conversation_id": str(conversation_id)}:
            await mark_given_up(deps, UserId(uid), ConversationId(conversation_id), letter.attempts)
