"""What the bench's client makes of answers (the figures stand on it)."""

import pytest

from infra.bench.client import answer
from infra.bench.crowds import ends, said

HEAD = b"HTTP/1.0 200 OK\r\nX-Run-Id: Ab3\r\nContent-Type: text/event-stream\r\n\r\n"
TOLD = b'data: {"type":"text-delta","id":"t","delta":"On "}\nid: 3\n\n'


def test_an_answer_that_broke_off_is_read_as_far_as_it_came() -> None:
    got = answer(HEAD + b"think: Looking\n\ndata: on Fri\n\ndata: day, I")

    assert (got.status, got.run_id, got.words) == (200, "Ab3", 3)


@pytest.mark.parametrize(
    ("stream", "times"),
    [
        (TOLD, 0),
        (TOLD + b'data: {"type":"error","errorText":"x"}\n\ndata: [DONE]\nid: 4\n\n', 1),
        (TOLD + b'data: {"type":"abort"}\n\ndata: {"type":"finish"}\n\n', 2),
    ],
)
def test_a_resumed_stream_is_counted_by_its_ends(stream: bytes, times: int) -> None:
    assert (said(stream), ends(stream)) == ("On ", times)
