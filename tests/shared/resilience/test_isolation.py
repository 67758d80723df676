"""Isolation of readers: whoever sends many files waits behind their own (S3)."""

import time
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import lowlevel

from shared.resilience.isolation import LimitReached, Limits, LongTurnTaken, has_turn, run_isolated
from tests.fixtures.held_reading import HeldReading, hold_reading


async def test_one_owner_of_many_files_holds_up_nobody_else(tmp_path: Path) -> None:
    order: list[str] = []

    async def run(owner: str, reading: HeldReading, is_read: anyio.Event) -> None:
        await run_isolated(reading.read, Limits(), owner)
        order.append(f"{owner} {reading.path.name}")
        is_read.set()

    with ExitStack() as stack:
        held = [stack.enter_context(hold_reading(tmp_path / f"pipe{n}")) for n in range(6)]
        readings = [(each, anyio.Event()) for each in held]
        async with anyio.create_task_group() as tasks:
            for each in readings[:5]:
                tasks.start_soon(run, "eve", *each)
            await lowlevel.checkpoint()
            tasks.start_soon(run, "ann", *readings[5])
            for reading, is_read in (readings[5], *readings[:5]):
                reading.end()
                await is_read.wait()

    assert order == ["ann pipe5", *(f"eve pipe{n}" for n in range(5))]


async def test_whoever_has_a_file_read_has_no_turn_and_others_have_g7(tmp_path: Path) -> None:
    turns: dict[str, bool] = {}

    with hold_reading(tmp_path / "pipe") as held:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_isolated, held.read, Limits(), "eve")
            await lowlevel.checkpoint()
            for owner in ("eve", "ann"):
                turns[owner] = await has_turn(owner, within_s=0.01)
            held.end()

    assert turns == {"eve": False, "ann": True}
    assert await has_turn("eve", within_s=0.01)


def burn(seconds: float) -> str:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return "burnt"


async def test_seconds_of_the_processor_are_told() -> None:
    content, seconds = await run_isolated(partial(burn, 0.05), Limits(), "ann")

    assert content == "burnt"
    assert seconds >= 0.05


async def test_a_small_file_passes_the_slow_ones_of_eight_owners_g7() -> None:
    limits = Limits(cpu_s=0.2, first_cpu_s=0.05)
    hostile = [f"eve{n}" for n in range(8)]
    order: list[str] = []

    async def run(owner: str, seconds: float) -> None:
        with suppress(LimitReached):
            await run_isolated(partial(burn, seconds), limits, owner)
        order.append(owner)

    async with anyio.create_task_group() as tasks:
        for owner in hostile:
            tasks.start_soon(run, owner, 9.0)
        await lowlevel.checkpoint()
        tasks.start_soon(run, "ann", 0.0)

    assert order[0] == "ann"
    assert sorted(order) == ["ann", *hostile]


async def test_behind_a_long_reading_slow_files_leave_and_small_ones_are_read_g7(
    tmp_path: Path,
) -> None:
    limits = Limits(cpu_s=9.0, first_cpu_s=0.05)

    with hold_reading(tmp_path / "pipe") as held:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(run_isolated, held.read, limits, "eve", is_slow=True))
            await lowlevel.checkpoint()
            for owner in ("mallory", "trudy"):
                with pytest.raises(LongTurnTaken):
                    await run_isolated(partial(burn, 9.0), limits, owner, leaves=True)
            content, _ = await run_isolated(partial(burn, 0.0), limits, "ann", leaves=True)
            held.end()

    assert content == "burnt"


async def test_what_needs_more_than_a_first_try_is_read_and_all_its_seconds_are_told_g7() -> None:
    limits = Limits(cpu_s=9.0, first_cpu_s=0.05)

    content, seconds = await run_isolated(partial(burn, 0.2), limits, "ann")

    assert content == "burnt"
    assert seconds >= 0.25
