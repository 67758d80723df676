"""Sweep: begins again what is stuck or due, of all users: conversations, attempts, runs, renewals; empties bins.

Also called: cron job, scheduler, watchdog, crash recovery.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from zlib import crc32

from functions.process_conversation.deps import SweepDeps
from functions.process_conversation.processing.sweep_schedule import schedule_sweep
from functions.process_conversation.upkeep.missed_events import schedule_search
from functions.process_conversation.upkeep.older_due import go_on
from functions.process_conversation.upkeep.renew_texts import schedule_renewal
from shared import telemetry
from shared.domain.conversations.claim import ABANDONED_AFTER, DAY_SPREAD, LONGEST_WAIT
from shared.domain.conversations.conversation import CONVERSATION_CHANGED_TOPIC
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import UserId
from shared.domain.quota_day import find_day_end
from shared.domain.store.documents import Document, Update

BATCH_SIZE = 200
MAX_BATCHES = 25
"""Of one kind in one sweep: the next begins within a minute."""
SEARCH_MINUTES = 3
"""In so many minutes of an hour the search for missed events is asked for, which one task answers."""
CLOSE_RUN_TARGET = "close_run"
PROBE_COUNT = 1
"""How many waiting conversations each sweep tries before their time: whether an outage is over."""
WAKE_SPREAD_S = 60
"""The time over which those begin that an ended outage let wait."""

Resume = Callable[[SweepDeps, Document, datetime], Awaitable[None]]


async def sweep(deps: SweepDeps) -> None:
    """Begin again what is due. Two sweeps at once share the work, and one that dies delays its part."""
    conversations = await _resume_due(deps, "processing", _publish_again)
    probes = await _resume(deps, await _list_waiting(deps, limit=PROBE_COUNT), _publish_again)
    runs = await _resume_due(deps, "runs", _close_run)
    binned = await _resume_due(deps, "bin", _delete_binned)
    renewals = await _resume_due(deps, "renewals", _renew)
    telemetry.add_fields(
        conversations=conversations, probes=probes, runs=runs, binned=binned, renewals=renewals
    )
    if deps.clock.now().minute < SEARCH_MINUTES:
        await schedule_search(deps.tasks, deps.clock.now())
        await go_on(deps)


async def wake_waiting(deps: SweepDeps) -> None:
    """Let a batch of waiting conversations begin within a minute: an outage is over.

    Each that succeeds wakes the next batch, while tokens are not short.
    """
    due_times: list[datetime] = []
    for claim in await _list_waiting(deps, limit=BATCH_SIZE):
        due_at = deps.clock.now() + timedelta(seconds=crc32(claim.path.encode()) % WAKE_SPREAD_S)
        with suppress(PreconditionFailed):  # somebody works on it, or its owner left
            await deps.documents.write(Update(claim.path, {"due_at": due_at}, claim.version))
            due_times.append(due_at.replace(microsecond=0))
    for due_at in sorted(set(due_times)):
        await schedule_sweep(deps.tasks, due_at)
    telemetry.add_fields(woken=len(due_times))


async def _list_waiting(deps: SweepDeps, *, limit: int) -> list[Document]:
    """Return claims whose next attempt is further away than that of any attempt in progress.

    Those that wait for a new day are left to it.
    """
    now, day_end = deps.clock.now(), find_day_end(deps.clock.now())
    first, last = now + ABANDONED_AFTER, now + LONGEST_WAIT
    waiting: list[Document] = []
    for after, until in ((first, min(last, day_end)), (max(first, day_end + DAY_SPREAD), last)):
        if after < until and len(waiting) < limit:
            waiting += await deps.due_documents.list_due(
                "processing", until, after=after, limit=limit - len(waiting)
            )
    return waiting


async def _resume_due(deps: SweepDeps, collection_name: str, resume: Resume) -> int:
    resumed = 0
    for _ in range(MAX_BATCHES):
        documents = await deps.due_documents.list_due(
            collection_name, deps.clock.now(), limit=BATCH_SIZE
        )
        resumed += await _resume(deps, documents, resume)
        if len(documents) < BATCH_SIZE:
            break
    return resumed


async def _resume(deps: SweepDeps, documents: Sequence[Document], resume: Resume) -> int:
    resumed, now = 0, deps.clock.now()
    for document in documents:
        with suppress(PreconditionFailed):  # somebody works on it, or its owner left
            await _postpone(deps, document, now)
            await resume(deps, document, now)
            resumed += 1
    return resumed


async def _postpone(deps: SweepDeps, document: Document, now: datetime) -> None:
    """Take a document, for as long as its work may need."""
    changes = {"due_at": now + ABANDONED_AFTER}
    await deps.documents.write(Update(document.path, changes, version=document.version))


async def _publish_again(deps: SweepDeps, claim: Document, _: datetime) -> None:
    uid, conversation_id = _parse_path(claim)
    event = {
        "uid": uid,
        "conversation_id": conversation_id,
        "content_hash": claim.fields["said"] or None,
    }
    await deps.events.publish(CONVERSATION_CHANGED_TOPIC, event)


async def _delete_binned(deps: SweepDeps, entry: Document, now: datetime) -> None:
    """Delete what has been in a bin for its time; what was derived from it goes as after any deletion."""
    _, uid, *_ = entry.path.split("/")
    kind, record_id = entry.fields["kind"], entry.fields["record_id"]
    freed = await deps.stores.bin_entries.drop(UserId(uid), kind, record_id, now=now)
    if freed:
        await deps.quotas.give_back(UserId(uid), "stored_bytes", freed, now=now)
    if kind == "conversations":
        event = {"uid": uid, "conversation_id": record_id, "content_hash": None}
        await deps.events.publish(CONVERSATION_CHANGED_TOPIC, event)


async def _close_run(deps: SweepDeps, run: Document, now: datetime) -> None:
    """Have a run closed whose process is gone; one that goes on is looked at later."""
    if run.fields["lease_until"] <= now:
        uid, run_id = _parse_path(run)
        name = f"close-{run_id}-{now:%Y%m%dT%H%M}"
        await deps.tasks.create(CLOSE_RUN_TARGET, name, {"uid": uid, "run_id": run_id})


async def _renew(deps: SweepDeps, renewal: Document, now: datetime) -> None:
    """Have the next conversations read again."""
    uid, subject = _parse_path(renewal)
    await schedule_renewal(deps.tasks, UserId(uid), subject, now.replace(second=0, microsecond=0))


def _parse_path(document: Document) -> tuple[str, str]:
    """Return user and id of `users/{uid}/{collection}/{id}`."""
    _, uid, _, document_id = document.path.split("/")
    return uid, document_id
