"""Moderator on OpenAI's `/moderations`, at any compatible base URL."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI
from pydantic import BaseModel, Field, ValidationError

from shared import telemetry
from shared.adapters.cloud.openai_chunks import build_error, parse_retry_after_s
from shared.domain.errors import ModelFailed, Unavailable

MODEL = "omni-moderation-latest"
WEIGHTS: Mapping[str, float] = {
    "illicit/violent": 1.0,
    "harassment/threatening": 1.0,
    "hate/threatening": 1.0,
    "sexual/minors": 1.0,
    "illicit": 0.5,
}
"""Categories that are harm for others. Questions about drugs and their dangers are `illicit`, too."""
_TIMEOUT = httpx2.Timeout(3.0)
_Score = Annotated[float, Field(ge=0, le=1)]


class _Result(BaseModel):
    category_scores: dict[str, _Score | None]


class _Answer(BaseModel):
    """What is read of an answer."""

    results: Annotated[list[_Result], Field(min_length=1)]


class OpenaiModerator:
    """The client is built on first use. A server that has no such route is not asked again."""

    def __init__(self, *, api_key: str, base_url: str) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._is_offered = True

    async def rate_harm(self, text: str) -> float:
        if not self._is_offered:
            return 0.0
        try:
            answer = await self._client.moderations.with_raw_response.create(
                model=MODEL, input=text
            )
        except APIStatusError as error:
            return self._handle_refusal(error)
        except APIConnectionError as error:
            raise Unavailable(f"no connection to the moderator: {type(error).__name__}") from None
        return _read_harm(answer.content)

    def _handle_refusal(self, error: APIStatusError) -> float:
        """Return 0 where nobody rates texts; raise for any other refusal."""
        if error.status_code in (404, 405):
            self._is_offered = False
            telemetry.warning("moderation_not_offered")
            return 0.0
        wait_s = parse_retry_after_s(error.response.headers)
        raise build_error(error.status_code, error.code, retry_after_s=wait_s) from None

    async def aclose(self) -> None:
        if "_client" in vars(self):
            await self._client.close()

    @cached_property
    def _client(self) -> AsyncOpenAI:
        return AsyncOpenAI(
            api_key=self._api_key, base_url=self._base_url, timeout=_TIMEOUT, max_retries=1
        )


def _read_harm(content: bytes) -> float:
    """Return the highest weighted score. Raises ModelFailed."""
    try:
        (first, *_) = _Answer.model_validate_json(content).results
    except ValidationError:
        raise ModelFailed("the moderator gave an answer that cannot be read") from None
    scores = first.category_scores
    return max(weight * (scores.get(name) or 0.0) for name, weight in WEIGHTS.items())
