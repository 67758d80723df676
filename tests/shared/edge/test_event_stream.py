"""An answer whose work outlives its connection."""

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from shared.edge.event_stream import SILENCE_S, EventStream

SCOPE: dict[str, Any] = {"type": "http"}


async def receive() -> dict[str, Any]:
    await anyio.sleep_forever()
    raise AssertionError


async def frames(closed: list[bool]) -> AsyncGenerator[bytes, None]:
    try:
        for frame in (b"a", b"b", b"c"):
            yield frame
    finally:
        closed.append(True)


async def test_every_frame_is_a_send_of_its_own() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await EventStream(frames([]), heartbeat=b"!", headers={"X-Run-Id": "r1"})(SCOPE, receive, send)

    assert [m["body"] for m in sent[1:]] == [b"a", b"b", b"c", b""]
    assert [m["more_body"] for m in sent[1:]] == [True, True, True, False]
    assert (b"x-run-id", b"r1") in sent[0]["headers"]
    assert (b"cache-control", b"no-cache, no-transform") in sent[0]["headers"]


@pytest.mark.parametrize("sends", range(5))
async def test_the_work_is_finished_though_the_client_left(sends: int) -> None:
    done: list[bool] = []
    closed: list[bool] = []
    count = 0

    async def send(_: Any) -> None:
        nonlocal count
        if count == sends:
            raise OSError
        count += 1

    async def work() -> None:
        await anyio.lowlevel.checkpoint()
        done.append(True)

    await EventStream(frames(closed), heartbeat=b"!", work=work)(SCOPE, receive, send)

    assert done == [True]
    assert closed == ([True] if sends else [])


class Timer:
    """Time that passes when told; whoever sleeps wakes in the order of their times."""

    def __init__(self) -> None:
        self.time = 0.0
        self._sleepers: list[tuple[float, anyio.Event]] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        waking = anyio.Event()
        self._sleepers.append((self.time + seconds, waking))
        await waking.wait()

    async def pass_(self, seconds: float) -> None:
        await anyio.wait_all_tasks_blocked()
        until = self.time + seconds
        while due := [sleeper for sleeper in self._sleepers if sleeper[0] <= until]:
            first = min(due, key=lambda sleeper: sleeper[0])
            self._sleepers.remove(first)
            self.time = first[0]
            first[1].set()
            await anyio.wait_all_tasks_blocked()
        self.time = until


class Client:
    """Receives what is sent, with the time; `gone` makes every further send fail."""

    def __init__(self, timer: Timer) -> None:
        self.received: list[tuple[float, bytes]] = []
        self.gone = False
        self._timer = timer

    async def send(self, message: Any) -> None:
        if self.gone:
            raise OSError
        if message.get("body"):
            self.received.append((self._timer.time, message["body"]))


class Slow:
    """Yields a frame at each of some times, and notes that it was closed."""

    def __init__(self, timer: Timer, *times: float) -> None:
        self.closed = False
        self._timer = timer
        self._times = times

    async def frames(self) -> AsyncGenerator[bytes, None]:
        try:
            for when in self._times:
                await self._timer.sleep(when - self._timer.time)
                yield b"frame"
        finally:
            self.closed = True


def beating(timer: Timer, slow: Slow, **options: Any) -> EventStream:
    return EventStream(slow.frames(), heartbeat=b"!", now=timer.now, sleep=timer.sleep, **options)


async def test_p20_a_heartbeat_is_sent_after_every_15_s_of_silence() -> None:
    timer = Timer()
    client, slow = Client(timer), Slow(timer, 10, 24, 60, 70)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beating(timer, slow), SCOPE, receive, client.send)
        await timer.pass_(100)

    assert SILENCE_S == 15
    assert client.received == [
        (10, b"frame"),
        (24, b"frame"),
        (39, b"!"),
        (54, b"!"),
        (60, b"frame"),
        (70, b"frame"),
    ]
    assert slow.closed


async def test_no_heartbeat_follows_the_last_frame_though_work_goes_on() -> None:
    timer = Timer()
    client = Client(timer)
    worked: list[float] = []

    async def work() -> None:
        await timer.sleep(100)
        worked.append(timer.time)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beating(timer, Slow(timer, 1), work=work), SCOPE, receive, client.send)
        await timer.pass_(100)

    assert client.received == [(1, b"frame")]
    assert worked == [100]


async def test_a_client_that_left_is_no_failure_of_a_heartbeat() -> None:
    timer = Timer()
    client, slow = Client(timer), Slow(timer, 40)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beating(timer, slow), SCOPE, receive, client.send)
        await timer.pass_(1)
        client.gone = True
        await timer.pass_(100)

    assert client.received == []
    assert slow.closed


async def test_a_cancelled_answer_closes_its_frames_at_once() -> None:
    timer = Timer()
    client, slow = Client(timer), Slow(timer, 1, 1_000)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beating(timer, slow), SCOPE, receive, client.send)
        await timer.pass_(20)
        assert not slow.closed
        tasks.cancel_scope.cancel()

    assert slow.closed
    assert client.received == [(1, b"frame"), (16, b"!")]


async def test_no_heartbeat_comes_between_while_a_frame_is_being_sent() -> None:
    timer = Timer()
    client = Client(timer)

    async def clogged(message: Any) -> None:
        if message.get("body"):
            await timer.sleep(50)
        await client.send(message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beating(timer, Slow(timer, 1, 60)), SCOPE, receive, clogged)
        await timer.pass_(200)

    assert client.received == [(51, b"frame"), (110, b"frame")]
