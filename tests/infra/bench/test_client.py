"""Bench client: the figures it takes from answers."""

import pytest

from infra.bench.client import parse_response
from infra.bench.crowds import count_ends, parse_text

HEAD = b"HTTP/1.0 200 OK\r\nX-Run-Id: Ab3\r\nContent-Type: text/event-stream\r\n\r\n"
TEXT_DELTA = b'data: {"type":"text-delta","id":"t","delta":"On "}\nid: 3\n\n'


def test_an_interrupted_answer_is_read_as_far_as_it_came() -> None:
    response = parse_response(HEAD + b"think: Looking\n\ndata: on Fri\n\ndata: day, I")

    assert (response.status, response.run_id, response.words) == (200, "Ab3", 3)


@pytest.mark.parametrize(
    ("stream", "times"),
    [
        (TEXT_DELTA, 0),
        (TEXT_DELTA + b'data: {"type":"error","errorText":"x"}\n\ndata: [DONE]\nid: 4\n\n', 1),
        (TEXT_DELTA + b'data: {"type":"abort"}\n\ndata: {"type":"finish"}\n\n', 2),
    ],
)
def test_the_ends_of_a_resumed_stream_are_counted(stream: bytes, times: int) -> None:
    assert (parse_text(stream), count_ends(stream)) == ("On ", times)
