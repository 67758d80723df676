"""A crash, an outage or an edit between any two steps: once messages come again, the same end."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_vectors import SqliteVectors
from shared.domain.conversation import Conversation
from shared.domain.errors import Unavailable
from tests.functions.process_conversation.world import (
    ALICE,
    MEMORIES,
    STRUCTURE,
    TALK,
    World,
    memory,
    structure,
    talk,
    world_on,
)

MOST_STEPS = 60


class Crash(Exception):
    """The process ends here; nothing after it runs."""


Cut = Callable[[], Awaitable[None]]


@dataclass
class Interruption:
    """Counts the calls that leave the processor; at number `at` something happens around it."""

    at: int
    happens: Cut
    after: bool
    calls: int = 0
    done: bool = False

    def wrap(self, name: str, port: Any) -> Any:
        return Watched(port, self)

    async def around(self, call: Callable[[], Awaitable[Any]]) -> Any:
        self.calls += 1
        if self.calls != self.at:
            return await call()
        self.done = True
        if not self.after:
            await self.happens()
            return await call()
        value = await call()
        await self.happens()
        return value


class Watcher(Protocol):
    async def around(self, call: Callable[[], Awaitable[Any]]) -> Any: ...


class Watched:
    """Stands before a port and lets somebody see every call."""

    def __init__(self, port: Any, watcher: Watcher) -> None:
        self._port = port
        self._watcher = watcher

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if name == "name":
            return method

        async def call(*args: Any, **named: Any) -> Any:
            return await self._watcher.around(lambda: method(*args, **named))

        return call


class TalkativeModel:
    """Answers from what was said, so that every content has answers of its own."""

    def name(self, role: str) -> str:
        return "talkative"

    async def structured(self, role: str, prompt: Any, schema: Any) -> Any:
        said = prompt.data["transcript"][0]["text"]
        answers: dict[str, Mapping[str, Any]] = {
            STRUCTURE: structure(title=said, action_items=[{"description": f"Do: {said}"}]),
            MEMORIES: {"memories": [memory(f"User said {said}", evidence=said)]},
        }
        return schema.model_validate(answers[prompt.name])

    def stream(self, *_: Any) -> Any:
        raise NotImplementedError


OLD = talk("Old words.", *(f"Old {n}." for n in range(9)))
NEW = talk("New words.")


async def crash() -> None:
    raise Crash


async def outage() -> None:
    raise Unavailable("gone for a moment")


async def run_to_the_end(world: World, *messages: Mapping[str, Any]) -> None:
    """Deliver as the queue does: what failed comes again, later, until all is quiet."""
    waiting = list(messages)
    for _ in range(20):
        waiting += await world.tell()
        if not waiting:
            return
        message = waiting.pop(0)
        try:
            await world.deliver(message)
        except (Crash, Unavailable):
            world.clock.pass_(seconds=121)
            waiting.append(message)
    raise AssertionError("it never becomes quiet")


async def undisturbed(folder: Path, *versions: Conversation | None) -> dict[str, Any]:
    """Return what a user has after these versions, each processed in peace; None deletes."""
    database = SqliteDatabase(folder / "undisturbed.db")
    world = world_on(database, TalkativeModel())
    for version in versions:
        await (world.write(version) if version else world.delete())
        await run_to_the_end(world)
    end = await world.everything()
    database.close()
    return end


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("cut", [crash, outage])
async def test_cut_at_every_call_it_ends_as_if_never_cut(tmp_path, cut, after):
    wanted = await undisturbed(tmp_path, OLD, NEW)

    for at in range(1, MOST_STEPS):
        interruption = Interruption(at, cut, after)
        database = SqliteDatabase(tmp_path / f"{at}.db")
        world = world_on(database, TalkativeModel(), interruption.wrap)
        for version in (OLD, NEW):
            await world.write(version)
            await run_to_the_end(world)
        assert await world.everything() == wanted, f"cut at call {at}"
        assert world.events.of("conversation.processed")
        database.close()
        if not interruption.done:
            break

    assert 30 < at < MOST_STEPS


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("version", [NEW, None], ids=["edited", "deleted"])
@pytest.mark.parametrize("other_first", [True, False], ids=["overtaken", "pending"])
async def test_changed_during_any_call_it_ends_as_the_last_version(
    tmp_path, version, after, other_first
):
    wanted = await undisturbed(tmp_path, OLD, version)

    for at in range(1, MOST_STEPS):
        database = SqliteDatabase(tmp_path / f"{at}.db")
        other = world_on(database, TalkativeModel())

        async def change(other: World = other) -> None:
            await (other.write(version) if version else other.delete())
            if other_first:
                await run_to_the_end(other)

        interruption = Interruption(at, change, after)
        world = world_on(database, TalkativeModel(), interruption.wrap)
        await world.write(OLD)
        await run_to_the_end(world)
        await run_to_the_end(other)
        if not interruption.done:
            database.close()
            break
        assert await world.everything() == wanted, f"changed at call {at}"
        database.close()

    assert 15 < at < MOST_STEPS


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("other_first", [True, False], ids=["overtaken", "pending"])
async def test_stored_again_while_it_is_forgotten_it_ends_as_stored(tmp_path, after, other_first):
    wanted = await undisturbed(tmp_path, OLD, None, NEW)

    for at in range(1, MOST_STEPS):
        database = SqliteDatabase(tmp_path / f"{at}.db")
        other = world_on(database, TalkativeModel())
        await other.write(OLD)
        await run_to_the_end(other)
        await other.delete()
        (deleted,) = await other.tell()

        async def store(other: World = other) -> None:
            await other.write(NEW)
            if other_first:
                await run_to_the_end(other)

        interruption = Interruption(at, store, after)
        world = world_on(database, TalkativeModel(), interruption.wrap)
        await run_to_the_end(world, deleted)
        await run_to_the_end(other)
        if not interruption.done:
            database.close()
            break
        assert await world.everything() == wanted, f"stored at call {at}"
        database.close()

    assert 5 < at < MOST_STEPS


@settings(max_examples=25, deadline=None)
@given(
    order=st.permutations(range(4)),
    again=st.lists(st.integers(0, 3), max_size=4),
    last=st.sampled_from([OLD, NEW, None]),
)
async def test_messages_in_any_order_and_number_lead_to_what_is_stored_last(
    tmp_path_factory, order, again, last
):
    folder = tmp_path_factory.mktemp("orders")
    wanted = await undisturbed(folder, *([last] if last else [OLD, None]))
    database = SqliteDatabase(folder / "keepsake.db")
    world = world_on(database, TalkativeModel())

    messages: list[Mapping[str, Any]] = []
    for version in (OLD, NEW, OLD, last):
        await (world.write(version) if version else world.delete())
        messages += await world.tell() or [{"uid": ALICE, "conversation_id": TALK}]
    for number in (*order, *again):
        await world.deliver(messages[number])

    end = await world.everything()
    database.close()
    assert end == wanted


async def test_an_attempt_whose_lease_ran_out_cannot_save_over_its_successor(database):
    late = world_on(database, TalkativeModel())
    await late.write(OLD)
    (message,) = await late.tell()

    async def overtaken() -> None:
        late.clock.pass_(seconds=121)
        successor = world_on(database, TalkativeModel())
        successor.clock.time = late.clock.time
        await successor.deliver(message)

    interruption = Interruption(4, overtaken, after=True)
    slow = world_on(database, TalkativeModel(), interruption.wrap)
    with pytest.raises(Unavailable):
        await slow.deliver(message)

    assert interruption.done
    assert slow.events.published == []
    assert (await slow.stored()).structured.title == "Old words."


@pytest.mark.parametrize("version", [NEW, None], ids=["edited", "deleted"])
async def test_rows_written_too_late_by_an_attempt_that_then_died_are_mended_by_its_message_p29(
    tmp_path, database, version
):
    wanted = await undisturbed(tmp_path, OLD, version)
    other = world_on(database, TalkativeModel())

    class LateVectors(SqliteVectors):
        async def upsert(self, namespace: str, rows: Any) -> None:
            other.clock.pass_(seconds=121)
            await (other.write(version) if version else other.delete())
            await run_to_the_end(other)
            await super().upsert(namespace, rows)
            raise Crash

    late = world_on(
        database,
        TalkativeModel(),
        lambda name, port: LateVectors(database) if name == "vectors" else port,
    )
    await late.write(OLD)
    (message,) = await late.tell()
    with pytest.raises(Crash):
        await late.deliver(message)
    before = await other.everything()
    await run_to_the_end(other, message)

    assert before != wanted
    assert await other.everything() == wanted
