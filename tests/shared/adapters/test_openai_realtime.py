"""Realtime on a real HTTP server: what is asked for, and what of the answer is handed on (C76)."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.adapters.cloud.openai_realtime import OpenaiRealtime
from shared.domain.chats.voice_session import RealtimeSecret, RealtimeSetup
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.models.model import ToolSpec
from tests.servers import run_server
from tests.servers.realtime import ANSWER, EXPIRES_AT, OFFER, SECRET, FakeRealtime, build_answer

KEY = "sk-our-own-key"
TOOL = ToolSpec(name="search", description="Search.", parameters={"type": "object"})
SETUP = RealtimeSetup(instructions="Be brief.", tools=(TOOL,), language="de")


@pytest.fixture
def server() -> FakeRealtime:
    return FakeRealtime()


@pytest.fixture
def url(server: FakeRealtime) -> Iterator[str]:
    with run_server(server.app) as url:
        yield f"{url}/v1"


def build_realtime(url: str) -> OpenaiRealtime:
    return OpenaiRealtime(
        api_key=KEY, base_url=url, model="gpt-realtime-2.1", hash_user=lambda uid: f"hash-{uid}"
    )


async def create_secret(url: str) -> RealtimeSecret:
    return await build_realtime(url).create_secret(UserId("ada"), SETUP)


async def open_call(url: str) -> str:
    return await build_realtime(url).open_call(UserId("ada"), SETUP, OFFER)


@pytest.mark.anyio
async def test_a_secret_is_asked_for_with_the_session_and_a_hash_of_the_user_c76(server, url):
    secret = await create_secret(url)

    assert secret == RealtimeSecret(
        text=SECRET,
        expires_at=datetime.fromtimestamp(EXPIRES_AT, UTC),
        url=f"{url}/realtime/calls",
        model="gpt-realtime-2.1",
    )
    ((body, headers),) = server.requests
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["openai-safety-identifier"] == "hash-ada"
    assert body == {
        "expires_after": {"anchor": "created_at", "seconds": 60},
        "session": {
            "type": "realtime",
            "model": "gpt-realtime-2.1",
            "instructions": "Be brief.",
            "output_modalities": ["audio"],
            "audio": {
                "input": {
                    "transcription": {"model": "gpt-4o-mini-transcribe", "language": "de"},
                    "turn_detection": {"type": "server_vad"},
                },
                "output": {"voice": "marin"},
            },
            "tools": [
                {
                    "type": "function",
                    "name": "search",
                    "description": "Search.",
                    "parameters": {"type": "object", "properties": {}},
                }
            ],
            "tool_choice": "auto",
        },
    }


def refuse(status: int, code: str = "") -> tuple[int, dict[str, Any]]:
    return status, {"error": {"message": "secret text", "type": "x", "param": None, "code": code}}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (refuse(401), "refused_key"),
        (refuse(403), "refused_key"),
        (refuse(404), "unknown_model"),
        (refuse(429, "insufficient_quota"), "no_quota"),
        (refuse(400), "other"),
        (b"no json", "malformed_answer"),
        (b"[]", "malformed_answer"),
        ({**build_answer({"type": "realtime"}), "value": None}, "malformed_answer"),
        ({**build_answer({"type": "realtime"}), "value": KEY}, "malformed_answer"),
        ({**build_answer({"type": "realtime"}), "value": "x" * 5_000}, "malformed_answer"),
        ({**build_answer({"type": "realtime"}), "expires_at": 10**20}, "malformed_answer"),
    ],
)
async def test_a_refusal_or_an_answer_without_a_secret_is_named_c76(server, url, answer, reason):
    server.answers += [answer, answer]

    with pytest.raises(ModelFailed) as failed:
        await create_secret(url)

    assert failed.value.reason == reason
    assert "secret text" not in str(failed.value)
    assert KEY not in str(failed.value)


@pytest.mark.anyio
async def test_a_service_that_is_down_is_unavailable_c76(server, url):
    server.answers += [refuse(503)] * 2

    with pytest.raises(Unavailable):
        await create_secret(url)
    with pytest.raises(Unavailable):
        await create_secret("http://127.0.0.1:9/v1")


@pytest.mark.anyio
async def test_an_offer_of_a_call_is_answered_with_the_same_session_c76(server, url):
    answer = await open_call(url)
    await create_secret(url)

    assert answer == ANSWER
    (call, headers), (secret, _) = server.requests
    assert call == {"sdp": OFFER, "session": secret["session"]}
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["openai-safety-identifier"] == "hash-ada"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (refuse(401), "refused_key"),
        (refuse(400), "other"),
        (b"no sdp", "malformed_answer"),
        (b"v=0 " + KEY.encode(), "malformed_answer"),
        (b"v=0" + b"x" * 32_768, "malformed_answer"),
        (b"\xff\xfe", "malformed_answer"),
    ],
)
async def test_a_call_that_is_refused_or_has_no_answer_is_named_c76(server, url, answer, reason):
    server.answers += [answer]

    with pytest.raises(ModelFailed) as failed:
        await open_call(url)

    assert failed.value.reason == reason
    assert "secret text" not in str(failed.value)
    assert KEY not in str(failed.value)


@pytest.mark.anyio
async def test_a_call_to_a_service_that_is_down_is_unavailable_c76(server, url):
    server.answers += [refuse(503)] * 2

    with pytest.raises(Unavailable):
        await open_call(url)
