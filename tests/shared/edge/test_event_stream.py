"""An answer whose work outlives its connection."""

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from shared.edge.event_stream import EventStream

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

    await EventStream(frames([]), headers={"X-Run-Id": "r1"})(SCOPE, receive, send)

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

    await EventStream(frames(closed), work=work)(SCOPE, receive, send)

    assert done == [True]
    assert closed == ([True] if sends else [])
