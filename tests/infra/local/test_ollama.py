"""Ollama on this machine: its models by name, and nothing where it does not run or answers oddly."""

import pytest

from infra.local.ollama import list_ollama_models
from tests.servers.raw import run_raw_server, script_bytes

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"


async def test_the_models_of_ollama_are_listed() -> None:
    body = b'{"models": [{"name": "qwen3:4b"}, {"name": "llama3.2"}]}'
    with run_raw_server(script_bytes(HEAD + body)) as server:
        assert await list_ollama_models(server.url) == ["qwen3:4b", "llama3.2"]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        HEAD + b"<html>",
        HEAD + b"[]",
        HEAD + b'{"models": null}',
        HEAD + b'{"models": [3]}',
        HEAD + b'{"models": [{"name": null}]}',
        HEAD + b'{"models": [{"name": "a\\u001b[2J"}]}',
    ],
)
async def test_what_is_no_ollama_has_no_models(answer: bytes) -> None:
    with run_raw_server(script_bytes(answer)) as server:
        assert await list_ollama_models(server.url) == []


async def test_where_nothing_listens_there_are_no_models() -> None:
    assert await list_ollama_models("http://127.0.0.1:9") == []
