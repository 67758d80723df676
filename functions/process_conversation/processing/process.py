"""Processing of a conversation: claim, extract, save, index and publish; idempotent.

Also called: processing pipeline, workflow.
"""

from collections.abc import Sequence
from contextlib import suppress

from functions.process_conversation.deps import ProcessDeps
from functions.process_conversation.processing.claims import Superseded
from functions.process_conversation.processing.draft import Draft, apply_draft
from functions.process_conversation.processing.extract_content import extract_content
from functions.process_conversation.processing.failures import ModelOutage, describe_failure
from functions.process_conversation.processing.mark_failed import mark_failed, mark_malformed
from functions.process_conversation.processing.merge_announcement import announce_merge
from functions.process_conversation.processing.near_known import select_from_elsewhere
from functions.process_conversation.processing.own_speakers import mark_new_owner
from functions.process_conversation.processing.remove_derived import remove_derived
from functions.process_conversation.processing.store_draft import (
    complete_conversation,
    save_memories,
)
from functions.process_conversation.processing.sweep_schedule import schedule_sweep, schedule_wake
from shared import telemetry
from shared.data.conversations.conversations import IncompleteTranscript
from shared.data.store.codec import MalformedDocument
from shared.domain.account.profile import Profile
from shared.domain.conversations.claim import PATIENT_ATTEMPTS, Claim
from shared.domain.conversations.conversation import Conversation, content_hash
from shared.domain.conversations.daily_summary import find_day
from shared.domain.errors import Invalid, ModelFailed, PreconditionFailed, Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.tasks.action_item import ActionItem
from shared.library.memory_index import sync_rows
from shared.library.settle_memories import settle_memories
from shared.library.summary_schedule import schedule_summary
from shared.library.task_reminders import announce_tasks
from shared.retrieval.chunking import split_into_chunks
from shared.spans import open_span

CONVERSATION_PROCESSED_TOPIC = "conversation.processed"


async def process(
    deps: ProcessDeps,
    uid: UserId,
    conversation_id: ConversationId,
    *,
    message_hash: str | None = None,
) -> None:
    """Bring what is derived from a conversation in line with what is stored now.

    The message is only the occasion, so neither order nor repetition matters. `message_hash` is the
    content hash in the message, None for a deletion. While its model or the index is away a conversation
    waits, and is processed later by itself. Raises Unavailable: call again.
    """
    profile = await deps.stores.profiles.get(
        uid
    )  # first: a wipe from now on concerns what is read next
    try:
        claimed = await deps.claims.acquire(
            uid, conversation_id, message_hash=message_hash or "", wipes=profile.memory_wipes
        )
    except MalformedDocument:
        telemetry.add_fields(outcome="malformed")
        return await mark_malformed(deps, uid, conversation_id)
    if isinstance(claimed, Claim):
        return await remove_derived(deps, uid, conversation_id, claimed)
    if claimed.waiting_since:
        telemetry.record_cause(claimed.waiting_since)
    tasks = await _process_claimed(deps, uid, claimed, profile)
    if tasks is not None:
        if _shows_end_of_outage(deps, claimed.held_by):
            await schedule_wake(deps.tasks, deps.clock.now())
        await _schedule_summary(deps, uid, claimed, profile)
        await _announce_tasks(deps, uid, tasks)
        await _publish_processed(deps, uid, claimed)
    if claimed.merged_from:
        await announce_merge(deps.stores, deps.tasks, uid, claimed.id, now=deps.clock.now())
    return None


def _shows_end_of_outage(deps: ProcessDeps, claim: Claim | None) -> bool:
    """Tell whether others that wait may succeed, too; not where all would wait for tokens."""
    has_outlasted = claim is not None and claim.waits and claim.exhausted_budget is None
    return bool(has_outlasted) and not deps.model.is_short()


async def _process_claimed(
    deps: ProcessDeps, uid: UserId, claimed: Conversation, profile: Profile
) -> Sequence[ActionItem] | None:
    """Return the tasks of a conversation that is completed now, None where it is not."""
    if claimed.held_by is None:
        return await deps.stores.action_items.list_for_conversation(uid, claimed.id)
    return await _run_attempt(deps, uid, claimed, claimed.held_by, profile)


async def _run_attempt(
    deps: ProcessDeps, uid: UserId, claimed: Conversation, claim: Claim, profile: Profile
) -> Sequence[ActionItem] | None:
    """Return the tasks that this attempt stored, None where it did not complete the conversation."""
    async with deps.claims.keep_extending(uid, claimed.id, claim.attempt):
        return await _attempt(deps, uid, claimed, claim, profile)


async def _attempt(
    deps: ProcessDeps, uid: UserId, claimed: Conversation, claim: Claim, profile: Profile
) -> Sequence[ActionItem] | None:
    try:
        conversation = await deps.stores.conversations.load_transcript(uid, claimed)
        await deps.stores.people.make_findable(uid, conversation.person_ids)
        if await mark_new_owner(
            deps.stores, uid, conversation, profile.own_names, now=deps.clock.now()
        ):
            return None  # the change has it processed again
        return await _derive(deps, uid, claimed, conversation, profile)
    except Superseded as error:  # the message must come again to see how the other attempt ends
        telemetry.add_fields(outcome="superseded")
        raise Unavailable("Another attempt works on the conversation") from error
    except IncompleteTranscript as error:
        # The user is told: the missing part may never arrive.
        with suppress(Superseded):
            await mark_failed(deps, uid, claimed, describe_failure(error, deps.model_place))
        raise
    except Unavailable as error:
        if _is_waiting_better(error, claim) and await _park(deps, uid, claimed, error):
            return None
        outage = describe_failure(error, deps.model_place)
        with suppress(Unavailable):
            await deps.claims.release(uid, claimed.id, claim, outage)
        raise


def _is_waiting_better(error: Unavailable, claim: Claim) -> bool:
    """Tell whether to wait instead of being called again: a model may be away for long, and anything that was so often."""
    if isinstance(error.__cause__, Superseded):
        return False
    return isinstance(error, ModelOutage) or claim.attempts > PATIENT_ATTEMPTS


async def _park(deps: ProcessDeps, uid: UserId, claimed: Conversation, outage: Unavailable) -> bool:
    """Let a conversation wait until an outage is over; return whether it does: it may have changed meanwhile."""
    failure = describe_failure(outage, deps.model_place)
    try:
        due_at = await deps.claims.park(uid, claimed, failure)
        await schedule_sweep(deps.tasks, due_at)
    except (Superseded, Unavailable):
        return False
    telemetry.add_fields(outcome="waiting", failure=failure.reason)
    return True


async def _derive(
    deps: ProcessDeps,
    uid: UserId,
    claimed: Conversation,
    conversation: Conversation,
    profile: Profile,
) -> Sequence[ActionItem] | None:
    """Store and index what the models make of a transcript; return its tasks, None for a failure.

    Where they fail, also for a time, the transcript itself is found by search.
    """
    try:
        draft = await _extract(deps, uid, claimed, conversation, profile)
        # Rows first: a repeated attempt finds nothing held any more, and search skips what is held.
        await deps.index.put_memories(uid, draft.released_memories)
        draft = await save_memories(deps, uid, claimed, draft)
        with open_span("index conversation"):
            return await _index(deps, uid, apply_draft(conversation, draft), draft)
    except PreconditionFailed as error:
        raise Unavailable("What was derived before changed meanwhile") from error
    except (ModelFailed, Invalid) as error:
        chunk_count = await _index_transcript(deps, uid, claimed, conversation)
        await mark_failed(
            deps, uid, claimed, describe_failure(error, deps.model_place), chunk_count=chunk_count
        )
        return None


async def _extract(
    deps: ProcessDeps,
    uid: UserId,
    claimed: Conversation,
    conversation: Conversation,
    profile: Profile,
) -> Draft:
    try:
        return await extract_content(deps, uid, conversation, profile)
    except Unavailable:
        with suppress(Unavailable, Superseded):
            await _index_transcript(deps, uid, claimed, conversation)
        raise


async def _index_transcript(
    deps: ProcessDeps, uid: UserId, claimed: Conversation, conversation: Conversation
) -> int:
    """Index what was said, with the structure there is; return the count of chunks."""
    chunk_count = len(split_into_chunks(conversation.named_segments))
    await save_memories(deps, uid, claimed, Draft(chunk_count=chunk_count))
    return await deps.index.put(uid, conversation)


async def _index(
    deps: ProcessDeps, uid: UserId, conversation: Conversation, draft: Draft
) -> Sequence[ActionItem]:
    """Write the rows, then complete; return the tasks. Raises Unavailable if the conversation changed meanwhile."""
    stale_ids = [*draft.stale_row_ids, *(correction.old.id for correction in draft.corrections)]
    if stale_ids:
        await deps.index.remove_memories(uid, stale_ids)
    await deps.index.put_memories(uid, draft.restored_memories)
    if draft.discarded:
        await deps.index.remove(uid, conversation.id, conversation.chunk_count)
    else:
        await deps.index.put(uid, conversation, draft.memories)
    await _settle(deps, uid, conversation, [*draft.memories, *draft.released_memories])
    try:
        return await complete_conversation(deps, uid, conversation, draft)
    except Superseded as error:
        raise Unavailable("The conversation changed while it was indexed") from error


async def _settle(
    deps: ProcessDeps, uid: UserId, conversation: Conversation, changed: Sequence[Memory]
) -> None:
    """Decide between its facts and those that another conversation stored meanwhile.

    One query after the write answers both who disagrees and what became of our own.
    """
    current = [memory for memory in changed if memory.is_current]
    found = await deps.stores.memories.find_conflicting(uid, current) if current else []
    conflicting = select_from_elsewhere(found, conversation)
    await settle_memories(deps.stores.documents, deps.index, uid, current, conflicting)
    await sync_rows(deps.stores.memories, deps.index, uid, changed, known=found)


async def _schedule_summary(
    deps: ProcessDeps, uid: UserId, conversation: Conversation, profile: Profile
) -> None:
    """Schedule the summary of the conversation's day, by the clock of its owner."""
    day = find_day(conversation.started_at, profile.zone)
    await schedule_summary(deps.tasks, uid, profile, day, now=deps.clock.now())


async def _announce_tasks(deps: ProcessDeps, uid: UserId, items: Sequence[ActionItem]) -> None:
    """Let the owner's phones remind of what the conversation says is due."""
    await announce_tasks(deps, uid, [item for item in items if item.due_at and item.owner == "me"])


async def _publish_processed(deps: ProcessDeps, uid: UserId, conversation: Conversation) -> None:
    claim = conversation.held_by
    processed_hash = claim.content_hash if claim else content_hash(conversation)
    event = {"uid": uid, "conversation_id": conversation.id, "content_hash": processed_hash}
    await deps.events.publish(CONVERSATION_PROCESSED_TOPIC, event)
