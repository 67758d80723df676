"""Event stream: frames, heartbeats, and work that outlives its connection."""

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from shared.edge.declare.event_stream import MAX_SILENCE_S, EventStream

SCOPE: dict[str, Any] = {"type": "http"}


async def receive() -> dict[str, Any]:
    await anyio.sleep_forever()
    raise AssertionError


async def yield_frames(closed: list[bool]) -> AsyncGenerator[bytes, None]:
    try:
        for frame in (b"a", b"b", b"c"):
            yield frame
    finally:
        closed.append(True)


async def test_every_frame_is_sent_separately() -> None:
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)

    await EventStream(yield_frames([]), heartbeat=b"!", headers={"X-Run-Id": "r1"})(
        SCOPE, receive, send
    )

    assert [m["body"] for m in messages[1:]] == [b"a", b"b", b"c", b""]
    assert [m["more_body"] for m in messages[1:]] == [True, True, True, False]
    assert (b"x-run-id", b"r1") in messages[0]["headers"]
    assert (b"cache-control", b"no-cache, no-transform") in messages[0]["headers"]


@pytest.mark.parametrize("sends", range(5))
async def test_the_work_finishes_even_if_the_client_disconnects(sends: int) -> None:
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

    await EventStream(yield_frames(closed), heartbeat=b"!", work=work)(SCOPE, receive, send)

    assert done == [True]
    assert closed == ([True] if sends else [])


class ManualTimer:
    """A clock that the test advances; sleepers wake in the order of their times."""

    def __init__(self) -> None:
        self.time = 0.0
        self._sleepers: list[tuple[float, anyio.Event]] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        wake_event = anyio.Event()
        self._sleepers.append((self.time + seconds, wake_event))
        await wake_event.wait()

    async def advance(self, seconds: float) -> None:
        await anyio.wait_all_tasks_blocked()
        until = self.time + seconds
        while due := [sleeper for sleeper in self._sleepers if sleeper[0] <= until]:
            first = min(due, key=lambda sleeper: sleeper[0])
            self._sleepers.remove(first)
            self.time = first[0]
            first[1].set()
            await anyio.wait_all_tasks_blocked()
        self.time = until


class RecordingClient:
    """A client that records each message with its time; once disconnected, sends to it fail."""

    def __init__(self, timer: ManualTimer) -> None:
        self.received_frames: list[tuple[float, bytes]] = []
        self.is_disconnected = False
        self._timer = timer

    async def send(self, message: Any) -> None:
        if self.is_disconnected:
            raise OSError
        if message.get("body"):
            self.received_frames.append((self._timer.time, message["body"]))


class SlowFrames:
    """A generator that yields a frame at each given time and records that it was closed."""

    def __init__(self, timer: ManualTimer, *times: float) -> None:
        self.is_closed = False
        self._timer = timer
        self._times = times

    async def frames(self) -> AsyncGenerator[bytes, None]:
        try:
            for when in self._times:
                await self._timer.sleep(when - self._timer.time)
                yield b"frame"
        finally:
            self.is_closed = True


def build_event_stream(timer: ManualTimer, slow: SlowFrames, **options: Any) -> EventStream:
    return EventStream(slow.frames(), heartbeat=b"!", now=timer.now, sleep=timer.sleep, **options)


async def test_a_heartbeat_is_sent_after_every_15_s_of_silence_p20() -> None:
    timer = ManualTimer()
    client, slow = RecordingClient(timer), SlowFrames(timer, 10, 24, 60, 70)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(build_event_stream(timer, slow), SCOPE, receive, client.send)
        await timer.advance(100)

    assert MAX_SILENCE_S == 15
    assert client.received_frames == [
        (10, b"frame"),
        (24, b"frame"),
        (39, b"!"),
        (54, b"!"),
        (60, b"frame"),
        (70, b"frame"),
    ]
    assert slow.is_closed


async def test_no_heartbeat_follows_the_last_frame_though_work_goes_on() -> None:
    timer = ManualTimer()
    client = RecordingClient(timer)
    work_times: list[float] = []

    async def work() -> None:
        await timer.sleep(100)
        work_times.append(timer.time)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(
            build_event_stream(timer, SlowFrames(timer, 1), work=work), SCOPE, receive, client.send
        )
        await timer.advance(100)

    assert client.received_frames == [(1, b"frame")]
    assert work_times == [100]


async def test_a_heartbeat_to_a_disconnected_client_does_not_fail() -> None:
    timer = ManualTimer()
    client, slow = RecordingClient(timer), SlowFrames(timer, 40)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(build_event_stream(timer, slow), SCOPE, receive, client.send)
        await timer.advance(1)
        client.is_disconnected = True
        await timer.advance(100)

    assert client.received_frames == []
    assert slow.is_closed


async def test_a_cancelled_answer_closes_its_frames_at_once() -> None:
    timer = ManualTimer()
    client, slow = RecordingClient(timer), SlowFrames(timer, 1, 1_000)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(build_event_stream(timer, slow), SCOPE, receive, client.send)
        await timer.advance(20)
        assert not slow.is_closed
        tasks.cancel_scope.cancel()

    assert slow.is_closed
    assert client.received_frames == [(1, b"frame"), (16, b"!")]


async def test_no_heartbeat_is_sent_while_a_frame_is_being_sent() -> None:
    timer = ManualTimer()
    client = RecordingClient(timer)

    async def send_slowly(message: Any) -> None:
        if message.get("body"):
            await timer.sleep(50)
        await client.send(message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(
            build_event_stream(timer, SlowFrames(timer, 1, 60)), SCOPE, receive, send_slowly
        )
        await timer.advance(200)

    assert client.received_frames == [(51, b"frame"), (110, b"frame")]
