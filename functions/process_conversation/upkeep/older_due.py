"""Older due work: what was stored before Firestore looked for it by shards is written once more, and found since.

A database is walked once, a page of users a task; each hour goes on with a walk that stopped.

Also called: data migration.
"""

from contextlib import suppress

from functions.process_conversation.deps import SweepDeps
from shared import telemetry
from shared.data.store.paging import iter_documents
from shared.domain.errors import Invalid, PreconditionFailed
from shared.domain.ids import UserId
from shared.domain.store.documents import Query, Set, Update

TARGET = "sweep"
COLLECTIONS = ("processing", "runs", "bin", "renewals")
USERS_A_TASK = 20
PAGE_SIZE = 500
WALK = "leases/older-due"
"""The document that says how far the walk is: behind the user `after`, or at its end."""


async def go_on(deps: SweepDeps) -> None:
    """Have the next page of users walked, unless all were; the walk that lives has the same task."""
    walk = await deps.documents.get(WALK)
    fields = walk.fields if walk else {"after": None, "is_over": False}
    if not fields["is_over"]:
        hour = f"{deps.clock.now():%Y%m%dT%H}"
        after = fields["after"]
        body = {"walks": True, "after": after}
        await deps.tasks.create(TARGET, f"older-due-{hour}-{after or ''}", body)


async def walk_page(deps: SweepDeps, *, after: str | None) -> None:
    """Write what is due of a page of users once more, as it is; then have the next page walked.

    A place in the list that the store has forgotten since begins the walk anew, an hour later: a repeat changes nothing.
    """
    try:
        users, following = await deps.user_list.list_users(USERS_A_TASK, after=after)
    except Invalid:
        await deps.documents.write(Set(WALK, {"after": None, "is_over": False}))
        return
    for uid in users:
        for name in COLLECTIONS:
            await _write_again(deps, uid, name)
    await deps.documents.write(Set(WALK, {"after": following, "is_over": following is None}))
    await go_on(deps)


async def _write_again(deps: SweepDeps, uid: UserId, collection_name: str) -> None:
    query = Query(collection=f"users/{uid}/{collection_name}", limit=PAGE_SIZE, fields=("due_at",))
    async for document in iter_documents(deps.documents, query):
        if document.fields.get("due_at") is None:
            continue
        changes = {"due_at": document.fields["due_at"]}
        with suppress(PreconditionFailed):  # it was written meanwhile, or its owner left
            await deps.documents.write(Update(document.path, changes, document.version))
            telemetry.count(written_again=1)
