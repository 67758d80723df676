"""Realtime voice on OpenAI's `/realtime/client_secrets` and `/realtime/calls`, at any compatible base URL.

Also called: WebRTC, speech to speech, realtime API.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, Any

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI
from pydantic import BaseModel, Field, ValidationError

from shared.domain.chats.voice_session import MAX_SDP_CHARS, RealtimeSecret, RealtimeSetup
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.failure import FailureReason
from shared.domain.ids import UserId
from shared.models.refusals import parse_retry_after_s
from shared.models.schemas import normalise_tool

SECRET_TTL_S = 60
"""A browser opens its session at once."""
TRANSCRIPTION_MODEL = "gpt-4o-mini-transcribe"
"""OpenAI ends it on 26 February 2027, and names no other that spoken conversations take."""
VOICE = "marin"
MAX_SECRET_CHARS = 4_096
MAX_TIME_S = 253_402_300_800
"""The year 10,000."""
_TIMEOUT = httpx2.Timeout(10.0, connect=5.0)
_CAUSES: Mapping[int, tuple[FailureReason, str]] = {
    401: ("refused_key", "The service to speak with refused the key: check OPENAI_API_KEY."),
    403: ("refused_key", "The key may not use this model to speak with: check REALTIME_MODEL."),
    404: ("unknown_model", "The service has no such model to speak with: check REALTIME_MODEL."),
}


class _Answer(BaseModel):
    """What is read of an answer; its session repeats what was asked for."""

    value: Annotated[str, Field(min_length=1, max_length=MAX_SECRET_CHARS)]
    expires_at: Annotated[int, Field(gt=0, lt=MAX_TIME_S)]


class OpenaiRealtime:
    """Each call has a client of its own: a session begins seldom. `hash_user` names a user to OpenAI."""

    is_ready = True

    def __init__(
        self, *, api_key: str, base_url: str, model: str, hash_user: Callable[[UserId], str]
    ) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._model = model
        self._hash_user = hash_user

    async def create_secret(self, uid: UserId, setup: RealtimeSetup) -> RealtimeSecret:
        async with self._open_client() as client:
            answer = await client.realtime.client_secrets.with_raw_response.create(
                expires_after={"anchor": "created_at", "seconds": SECRET_TTL_S},
                session=_build_session(self._model, setup),
                extra_headers=self._name_user(uid),
            )
        return self._read_secret(answer.content)

    async def open_call(self, uid: UserId, setup: RealtimeSetup, offer: str) -> str:
        async with self._open_client() as client:
            answer = await client.realtime.calls.create(
                sdp=offer,
                session=_build_session(self._model, setup),
                extra_headers=self._name_user(uid),
            )
        return self._read_sdp(answer.content)

    @asynccontextmanager
    async def _open_client(self) -> AsyncIterator[AsyncOpenAI]:
        """Yield a client whose failures are translated."""
        try:
            async with AsyncOpenAI(
                api_key=self._api_key, base_url=self._base_url, timeout=_TIMEOUT, max_retries=1
            ) as client:
                yield client
        except APIStatusError as error:
            raise _to_error(error) from None
        except APIConnectionError as error:
            raise Unavailable(f"no connection to speak over: {type(error).__name__}") from None

    def _name_user(self, uid: UserId) -> Mapping[str, str]:
        return {"OpenAI-Safety-Identifier": self._hash_user(uid)}

    def _read_sdp(self, content: bytes) -> str:
        """Take the answer to an offer. Raises ModelFailed for anything else, or with our own key."""
        sdp = content.decode(errors="replace")
        if not sdp.startswith("v=0") or len(sdp) > MAX_SDP_CHARS or self._api_key in sdp:
            raise _build_malformed()
        return sdp

    def _read_secret(self, content: bytes) -> RealtimeSecret:
        """Take the secret alone. Raises ModelFailed for an answer without one, or with our own key."""
        try:
            answer = _Answer.model_validate_json(content)
        except ValidationError:
            raise _build_malformed() from None
        if self._api_key in answer.value:
            raise _build_malformed()
        return RealtimeSecret(
            text=answer.value,
            expires_at=datetime.fromtimestamp(answer.expires_at, UTC),
            url=f"{self._base_url.rstrip('/')}/realtime/calls",
            model=self._model,
        )


def _build_session(model: str, setup: RealtimeSetup) -> Any:
    transcription = {"model": TRANSCRIPTION_MODEL}
    if setup.language:
        transcription["language"] = setup.language
    return {
        "type": "realtime",
        "model": model,
        "instructions": setup.instructions,
        "output_modalities": ["audio"],
        "audio": {
            "input": {"transcription": transcription, "turn_detection": {"type": "server_vad"}},
            "output": {"voice": VOICE},
        },
        "tools": [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            }
            for tool in map(normalise_tool, setup.tools)
        ],
        "tool_choice": "auto",
    }


def _build_malformed() -> ModelFailed:
    detail = "The service to speak with gave an answer that cannot be read."
    return ModelFailed(detail, reason="malformed_answer")


def _to_error(error: APIStatusError) -> Unavailable | ModelFailed:
    """Name the cause; the provider's own text is left out."""
    status = error.status_code
    if status == 429 and error.code == "insufficient_quota":
        detail = "The account at the service to speak with has no quota left."
        return ModelFailed(detail, reason="no_quota")
    if status in (408, 409, 429) or status >= 500:
        wait_s = parse_retry_after_s(error.response.headers)
        return Unavailable(f"the realtime service answered {status}", retry_after_s=wait_s)
    other: tuple[FailureReason, str] = (
        "other",
        f"The service to speak with refused to begin (status {status}).",
    )
    reason, detail = _CAUSES.get(status, other)
    return ModelFailed(detail, reason=reason)
