"""Moderator on OpenAI's `/moderations`, at any compatible base URL."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from shared import telemetry
from shared.adapters.cloud.openai_http import NothingThere, OpenaiHttp
from shared.domain.chats.safety import Moderation
from shared.domain.errors import ModelFailed
from shared.ports import Clock
from shared.resilience.retry import retry

MODEL = "omni-moderation-latest"
HARM_WEIGHTS: Mapping[str, float] = {
    "illicit/violent": 1.0,
    "harassment/threatening": 1.0,
    "hate/threatening": 1.0,
    "sexual/minors": 1.0,
    "illicit": 0.5,
}
"""Categories that are harm for others. Questions about drugs and their dangers are `illicit`, too."""
SELF_HARM_WEIGHTS: Mapping[str, float] = dict.fromkeys(
    ("self-harm", "self-harm/intent", "self-harm/instructions"), 1.0
)
"""Categories by which the writer may be in danger."""
_TIMEOUT_S = 3.0
_Score = Annotated[float, Field(ge=0, le=1)]


class _Result(BaseModel):
    category_scores: dict[str, _Score | None]


class _Answer(BaseModel):
    """What is read of an answer."""

    results: Annotated[list[_Result], Field(min_length=1)]


class OpenaiModerator:
    """A server that has no such route is not asked again."""

    def __init__(self, *, api_key: str, base_url: str, clock: Clock) -> None:
        self._http = OpenaiHttp(
            api_key=api_key,
            base_url=base_url,
            timeout_s=_TIMEOUT_S,
            connect_timeout_s=_TIMEOUT_S,
            clock=clock,
        )
        self._clock = clock
        self._is_offered = True

    async def moderate(self, text: str) -> Moderation | None:
        if not self._is_offered:
            return None
        try:
            content = await retry(lambda: self._post(text), sleep=self._clock.sleep)
        except NothingThere:
            self._is_offered = False
            telemetry.warning("moderation_not_offered")
            return None
        return _read_ratings(content)

    async def _post(self, text: str) -> bytes:
        return await self._http.post("moderations", {"model": MODEL, "input": text})

    async def aclose(self) -> None:
        await self._http.aclose()


def _read_ratings(content: bytes) -> Moderation:
    """Read the highest weighted scores. Raises ModelFailed."""
    try:
        (first, *_) = _Answer.model_validate_json(content).results
    except ValidationError:
        raise ModelFailed("the moderator gave an answer that cannot be read") from None
    scores = first.category_scores
    return Moderation(
        harm=_find_highest(scores, HARM_WEIGHTS),
        self_harm=_find_highest(scores, SELF_HARM_WEIGHTS),
    )


def _find_highest(scores: Mapping[str, float | None], weights: Mapping[str, float]) -> float:
    return max(weight * (scores.get(name) or 0.0) for name, weight in weights.items())
