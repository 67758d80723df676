"""Isolation of readers: whoever sends many files waits behind their own (S3)."""

import os
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import lowlevel, to_thread

from shared.resilience.isolation import LimitReached, Limits, LongTurnTaken, has_turn, run_isolated


def wait_for(path: str) -> str:
    """Read a named pipe: it ends when somebody wrote to it."""
    return Path(path).read_text()


def write(path: Path) -> None:
    path.write_text("read")


async def test_one_owner_of_many_files_holds_up_nobody_else(tmp_path: Path) -> None:
    pipes = [tmp_path / f"pipe{n}" for n in range(6)]
    for pipe in pipes:
        os.mkfifo(pipe)
    read = {pipe: anyio.Event() for pipe in pipes}
    order: list[str] = []

    async def run(owner: str, pipe: Path) -> None:
        await run_isolated(partial(wait_for, str(pipe)), Limits(), owner)
        order.append(f"{owner} {pipe.name}")
        read[pipe].set()

    async with anyio.create_task_group() as tasks:
        for pipe in pipes[:5]:
            tasks.start_soon(run, "eve", pipe)
        await lowlevel.checkpoint()
        tasks.start_soon(run, "ann", pipes[5])
        for pipe in (pipes[5], *pipes[:5]):
            await to_thread.run_sync(write, pipe)
            await read[pipe].wait()

    assert order == ["ann pipe5", *(f"eve pipe{n}" for n in range(5))]


async def test_whoever_has_a_file_read_has_no_turn_and_others_have_g7(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    turns: dict[str, bool] = {}

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run_isolated, partial(wait_for, str(pipe)), Limits(), "eve")
        await lowlevel.checkpoint()
        for owner in ("eve", "ann"):
            turns[owner] = await has_turn(owner, within_s=0.01)
        await to_thread.run_sync(write, pipe)

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
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    limits = Limits(cpu_s=9.0, first_cpu_s=0.05)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(
            partial(run_isolated, partial(wait_for, str(pipe)), limits, "eve", is_slow=True)
        )
        await lowlevel.checkpoint()
        for owner in ("mallory", "trudy"):
            with pytest.raises(LongTurnTaken):
                await run_isolated(partial(burn, 9.0), limits, owner, long_within_s=0.01)
        content, _ = await run_isolated(partial(burn, 0.0), limits, "ann", long_within_s=0.01)
        await to_thread.run_sync(write, pipe)

    assert content == "burnt"


async def test_what_needs_more_than_a_first_try_is_read_and_all_its_seconds_are_told_g7() -> None:
    limits = Limits(cpu_s=9.0, first_cpu_s=0.05)

    content, seconds = await run_isolated(partial(burn, 0.2), limits, "ann")

    assert content == "burnt"
    assert seconds >= 0.25
