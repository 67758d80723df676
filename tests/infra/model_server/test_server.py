"""Model server: its command line, window and port, and what is said where it ended."""

import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.model_server.server import (
    HOST,
    WINDOWS_TOKENS,
    ServerOptions,
    build_command,
    choose_window,
    describe_end,
    find_port,
    read_reason,
)

GIB = 2**30


def test_the_server_listens_on_loopback_without_a_page_and_tells_no_page_its_answers() -> None:
    options = ServerOptions(window_tokens=8_192, places=2)

    command = build_command(
        Path("server"), Path("m.gguf"), "m", options, port=4_711, key_file=Path("m.key")
    )

    text = " ".join(command)
    assert "--host 127.0.0.1 --port 4711" in text
    assert "--ctx-size 16384 --parallel 2" in text
    assert "--api-key-file m.key" in text
    assert "--no-webui" in text
    assert "LLAMA_ARG_CORS_ORIGINS=http://127.0.0.1:4711 " in text


@pytest.mark.parametrize(
    ("context_tokens", "token_bytes", "free_bytes", "window_tokens"),
    [
        (131_072, 131_072, 16 * GIB, 16_384),
        (131_072, 131_072, 3 * GIB, 8_192),
        (131_072, 131_072, -GIB, 4_096),
        (2_048, 1, 16 * GIB, 2_048),
        (32_768, 12_288, GIB, 16_384),
    ],
)
def test_a_window_is_what_the_model_reads_and_memory_holds(
    context_tokens: int, token_bytes: int, free_bytes: int, window_tokens: int
) -> None:
    assert choose_window(context_tokens, token_bytes, free_bytes) == window_tokens


@given(st.integers(1, 10**6), st.integers(1, 10**7), st.integers(-(10**12), 10**12))
def test_no_window_exceeds_the_model_or_what_is_offered(
    context_tokens: int, token_bytes: int, free_bytes: int
) -> None:
    window_tokens = choose_window(context_tokens, token_bytes, free_bytes)

    assert 0 < window_tokens <= min(context_tokens, WINDOWS_TOKENS[0])


def test_a_wanted_port_beyond_the_last_is_replaced_by_a_free_one() -> None:
    assert 0 < find_port(65_536) <= 65_535


def test_the_wanted_port_is_taken_if_it_is_free() -> None:
    with socket.create_server((HOST, 0)) as listener:
        taken = listener.getsockname()[1]
        other = find_port(taken)

    assert other != taken
    assert find_port(other) == other


LOG = """\
0.00.053 E common_fit_params: encountered an error while trying to fit params: failed to load model
0.00.097 E llama_model_load: error loading model: tensor 'output' is not within the file
0.00.097 E cmn  common_init_: failed to load model 'm.gguf'
"""


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (LOG, "tensor 'output' is not within the file"),
        (
            "0.1 E srv  start: couldn't bind: error 98\n0.2 I srv  bye\n",
            "start: couldn't bind: error 98",
        ),
        ("error: invalid argument: --no-webui\n", "error: invalid argument: --no-webui"),
        ("", "it said nothing"),
    ],
)
def test_the_cause_is_read_from_the_log(tmp_path: Path, log: str, reason: str) -> None:
    file = tmp_path / "server.log"
    file.write_text(log)

    assert read_reason(file) == reason


def test_a_server_that_was_killed_tells_of_memory(tmp_path: Path) -> None:
    assert "memory" in describe_end(128 + 9, tmp_path / "none.log")
