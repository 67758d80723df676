"""Reindexing of all users: a task lists a page of users, and each of them has tasks of their own.

Every task can be repeated: its name is used once, and a user whose rows follow the scheme is left out.

Also called: backfill, batch job.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from functions.process_conversation.deps import ReindexDeps
from functions.process_conversation.upkeep.reindex import (
    has_rows,
    reindex_conversation,
    reindex_file,
    reindex_memory,
)
from functions.process_conversation.upkeep.reindex_schedule import schedule_page, schedule_step
from shared import telemetry
from shared.domain.conversations.reindexing import Reindexing, ReindexStep
from shared.domain.errors import AccountErased
from shared.domain.ids import UserId

USERS_A_PAGE = 50
ITEMS_A_STEP = 25
"""So few that a step ends well before its task times out."""


async def list_users(deps: ReindexDeps, attempt: str, page: int) -> None:
    """Give each user of a page a task, spread over time; then have the next page listed.

    A repeat finds the page listed, or creates tasks that are there. Another run ends this one.
    """
    reindexing, count = await deps.reindexings.get(), 0
    if reindexing is None or reindexing.attempt != attempt:
        return
    if reindexing.page == page and not reindexing.is_listed:
        users, cursor = await deps.user_list.list_users(USERS_A_PAGE, after=reindexing.cursor)
        count = await _schedule_users(deps, reindexing, users)
        reindexing = await deps.reindexings.advance(reindexing, cursor, deps.clock.now())
    telemetry.add_fields(users=count)
    if not reindexing.is_listed:
        pause = timedelta(seconds=count / reindexing.users_per_second)
        await schedule_page(deps.tasks, reindexing, at=deps.clock.now() + pause)


async def reindex_user(deps: ReindexDeps, step: ReindexStep) -> None:
    """Build the rows of a step, then have the next one done; the last one marks the user as done.

    A user who is done, or was erased since they were listed, is left alone.
    """
    scheme = deps.index.scheme
    profile = await deps.stores.profiles.get(step.uid)
    if profile.next_index_scheme != scheme:
        return
    next_step = step.find_next(await _build_rows(deps, step))
    if next_step:
        await schedule_step(deps.tasks, next_step)
    else:
        await deps.stores.profiles.change(step.uid, index_scheme=scheme, next_index_scheme=None)


async def _schedule_users(
    deps: ReindexDeps, reindexing: Reindexing, users: Sequence[UserId]
) -> int:
    """Return how many users need work."""
    now, count = deps.clock.now(), 0
    for uid in users:
        profile = await deps.stores.profiles.get(uid)
        if profile.index_scheme == reindexing.scheme:
            continue
        with suppress(AccountErased):
            await deps.stores.profiles.change(uid, next_index_scheme=reindexing.scheme)
            at = now + timedelta(seconds=count / reindexing.users_per_second)
            step = ReindexStep(attempt=reindexing.attempt, uid=uid)
            await schedule_step(deps.tasks, step, at=at)
            count += 1
    return count


async def _build_rows(deps: ReindexDeps, step: ReindexStep) -> str | None:
    """Return where the next page begins; None after the last."""
    match step.part:
        case "conversations":
            return await _build_conversations(deps, step)
        case "memories":
            return await _build_memories(deps, step)
        case "files":
            return await _build_files(deps, step)


async def _build_conversations(deps: ReindexDeps, step: ReindexStep) -> str | None:
    conversations = deps.stores.conversations
    page = await conversations.list_page(step.uid, limit=ITEMS_A_STEP, after=step.cursor)
    speaking = {name for conversation in page.items for name in conversation.person_ids}
    await deps.stores.people.make_findable(step.uid, sorted(speaking))
    for conversation in filter(has_rows, page.items):
        await reindex_conversation(step.uid, conversation.id, conversations, deps.index)
    return page.next


async def _build_memories(deps: ReindexDeps, step: ReindexStep) -> str | None:
    memories = deps.stores.memories
    page = await memories.list_page(step.uid, limit=ITEMS_A_STEP, after=step.cursor)
    for memory in page.items:
        await reindex_memory(step.uid, memory, memories, deps.index)
    return page.next


async def _build_files(deps: ReindexDeps, step: ReindexStep) -> str | None:
    files = deps.stores.files
    page = await files.list_page(step.uid, limit=ITEMS_A_STEP, after=step.cursor)
    for file in page.items:
        await reindex_file(step.uid, file, files, deps.blobs, deps.file_index)
    return page.next
