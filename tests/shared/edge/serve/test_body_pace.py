"""Pace of bodies: a trickle ends after its grace, whatever its size, and what comes steadily may take long."""

import asyncio
from collections.abc import Sequence

import pytest
from starlette.requests import Request
from starlette.types import Message

from shared.edge.declare.problems import RequestRejected
from shared.edge.serve.body_pace import GRACE_S, MIN_BYTES_PER_S, receive_in_time
from tests.fakes import FixedClock


def build_request(clock: FixedClock, chunks: Sequence[bytes], *, every_s: float) -> Request:
    """Build a request whose body comes in chunks, of which none is the last."""
    waiting = [*chunks]

    async def receive() -> Message:
        if not waiting:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        clock.advance(seconds=every_s)
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    return Request({"type": "http", "method": "POST", "headers": []}, receive)


@pytest.mark.parametrize(
    ("chunk_bytes", "every_s", "received"),
    [
        (1, 1.0, round(GRACE_S)),
        (10, 1.0, round(GRACE_S)),
        (MIN_BYTES_PER_S // 2, 1.0, round(2 * GRACE_S) - 1),
        (MIN_BYTES_PER_S, 1.0, 1_000),
        (1_000_000, 100.0, 1_000),
    ],
)
async def test_a_trickle_is_refused_and_a_steady_stream_is_not_s4(
    chunk_bytes: int, every_s: float, received: int
) -> None:
    clock, count, statuses = FixedClock(), 0, list[int]()
    request = build_request(clock, [bytes(chunk_bytes)] * 1_000, every_s=every_s)
    try:
        async for chunk in receive_in_time(request, clock):
            count += bool(chunk)
    except RequestRejected as refusal:
        statuses.append(refusal.response.status_code)

    assert count == pytest.approx(received, abs=1)
    assert statuses == [408] * (received < 1_000)


async def test_a_body_that_stops_coming_is_refused_s4() -> None:
    request = build_request(FixedClock(), [], every_s=0)

    with pytest.raises(RequestRejected) as refusal:
        async for _ in receive_in_time(request, FixedClock(), grace_s=0.01):
            pass

    assert refusal.value.response.status_code == 408
    assert refusal.value.response.headers["connection"] == "close", "its rest is not waited for"
