"""Goals of a user: at most four are active, and each keeps the values it had."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shared.data.store.codec import dump, load, load_all
from shared.data.store.records import Records
from shared.domain.errors import NotFound
from shared.domain.ids import GoalId, UserId
from shared.domain.store.documents import Delete, Document, Set, Write
from shared.domain.tasks.goal import MAX_ACTIVE_GOALS, Goal
from shared.ports import Transaction


class Goals(Records[Goal]):
    """A user's goals.

    The ids of the active ones stand in one document, newest first, so that the limit holds under
    concurrency and reading them needs no query.
    """

    kind = Goal
    collection = "goals"
    noun = "Goal"

    async def list_active(self, uid: UserId) -> list[Goal]:
        """Return the active goals, newest first."""
        ids = _read_ids(await self._documents.get(_active_path(uid)))
        return await self._load_many(uid, ids)

    async def create(self, uid: UserId, goal: Goal) -> Goal:
        """Store an active goal; the oldest beyond the limit becomes inactive and stays stored.

        A goal that is sent again, under its id or an equal one that is active, is the one there is.
        """

        async def work(tx: Transaction) -> Goal:
            ids = _read_ids(await tx.get(_active_path(uid)))
            paths = [self.document_path(uid, goal_id) for goal_id in (goal.id, *ids)]
            known_goals = load_all(Goal, await tx.get_many(paths))
            for known in known_goals:
                if known.id == goal.id or _is_equal(known, goal):
                    return known
            new_goal = goal.check_range().with_progress_since(None)
            tx.write(
                Set(self.document_path(uid, goal.id), dump(new_goal)),
                *self._build_activation(uid, goal.id, ids, known_goals),
            )
            return new_goal

        return await self._documents.transaction(work)

    async def restore(self, uid: UserId, goal: Goal) -> None:
        """Store a goal as it was; inactive where as many are active as there may be.

        One that is stored under its id stays as it is.
        """

        async def work(tx: Transaction) -> None:
            path = self.document_path(uid, goal.id)
            document, active = await tx.get_many([path, _active_path(uid)])
            if document is not None:
                return
            ids = _read_ids(active)
            is_active = goal.is_active and len(ids) < MAX_ACTIVE_GOALS
            tx.write(Set(path, dump(replace(goal, is_active=is_active))))
            if is_active:
                tx.write(_build_active_write(uid, [goal.id, *ids]))

        await self._documents.transaction(work)

    async def change_goal(self, uid: UserId, goal_id: str, /, **changes: Any) -> Goal:
        """Change fields and return the whole; a new value adds a point. Raises NotFound and Invalid."""
        path = self._build_valid_path(uid, goal_id)

        async def work(tx: Transaction) -> Goal:
            document = await tx.get(path)
            if document is None:
                raise NotFound("Goal not found")
            before = load(Goal, document)
            goal = replace(before, **changes).check_range().with_progress_since(before)
            tx.write(Set(path, dump(goal)), *await self._switch(tx, uid, before, goal))
            return goal

        return await self._documents.transaction(work)

    async def delete(self, uid: UserId, goal_id: str) -> None:
        """Raises NotFound."""
        path = self._build_valid_path(uid, goal_id)

        async def work(tx: Transaction) -> None:
            if await tx.get(path) is None:
                raise NotFound("Goal not found")
            ids = _read_ids(await tx.get(_active_path(uid)))
            tx.write(Delete(path), _build_active_write(uid, [i for i in ids if i != goal_id]))

        await self._documents.transaction(work)

    async def _switch(
        self, tx: Transaction, uid: UserId, before: Goal, goal: Goal
    ) -> Sequence[Write]:
        """Return the writes that a change between active and inactive needs."""
        if before.is_active == goal.is_active:
            return ()
        ids = [i for i in _read_ids(await tx.get(_active_path(uid))) if i != goal.id]
        if not goal.is_active:
            return (_build_active_write(uid, ids),)
        paths = [self.document_path(uid, active_id) for active_id in ids]
        return self._build_activation(uid, goal.id, ids, load_all(Goal, await tx.get_many(paths)))

    def _build_activation(
        self, uid: UserId, goal_id: str, ids: Sequence[str], goals: Sequence[Goal]
    ) -> list[Write]:
        """Return the writes that put a goal first, and make those beyond the limit inactive."""
        kept_ids = [goal_id, *ids][:MAX_ACTIVE_GOALS]
        return [
            _build_active_write(uid, kept_ids),
            *(
                Set(self.document_path(uid, goal.id), dump(replace(goal, is_active=False)))
                for goal in goals
                if goal.id not in kept_ids
            ),
        ]

    async def _load_many(self, uid: UserId, ids: Sequence[str]) -> list[Goal]:
        paths = [self.document_path(uid, goal_id) for goal_id in ids]
        return load_all(Goal, await self._documents.get_many(paths)) if paths else []


def _is_equal(goal: Goal, other: Goal) -> bool:
    """Tell whether a client sent the same goal twice."""
    return (goal.title, goal.goal_type, goal.target_value, goal.unit) == (
        other.title,
        other.goal_type,
        other.target_value,
        other.unit,
    )


def _read_ids(document: Document | None) -> list[GoalId]:
    return list(document.fields["ids"]) if document else []


def _build_active_write(uid: UserId, ids: Sequence[str]) -> Write:
    return Set(_active_path(uid), {"ids": list(ids)})


def _active_path(uid: UserId) -> str:
    return f"users/{uid}/limits/active_goals"
