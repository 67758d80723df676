"""Model check: one cheap call that tells whether a model can be used, and why not."""

import asyncio
from collections.abc import Sequence

import httpx

from shared.adapters.cloud.openai_chunks import build_error
from shared.adapters.cloud.openai_model import OpenaiModel
from shared.domain.errors import ModelFailed, ModelUnreachable, Unavailable
from shared.domain.failure import FailureReason
from shared.domain.model import ToolSpec, UserText

ANSWER_TIMEOUT_S = 60
"""A server at home may have to load a model from its disk first."""
LIST_TIMEOUT_S = 5
MAX_NAMES = 500
TOOL = ToolSpec(name="look_up", description="Look something up.", parameters={"type": "object"})
"""A tool to offer: some models answer, but refuse tools."""


async def find_failure(
    base_url: str, api_key: str, model: str, tools: Sequence[ToolSpec] = ()
) -> FailureReason | None:
    """Ask for the first piece of an answer; None: the key, the model and its quota are good."""
    openai = OpenaiModel(api_key=api_key, base_url=base_url, models={"agent": model})
    question = [UserText(text="Reply with OK.")]
    try:
        async with (
            asyncio.timeout(ANSWER_TIMEOUT_S),
            openai.stream("agent", question, tools) as events,
        ):
            await anext(events)
    except ModelFailed as error:
        return error.reason
    except (ModelUnreachable, TimeoutError):
        return "no_connection"
    except Unavailable:
        return "other"
    finally:
        await openai.aclose()
    return None


async def find_failure_at_start(base_url: str, api_key: str, model: str) -> FailureReason | None:
    """Ask for the list of models, which costs nothing, and the model itself only in doubt."""
    try:
        names = await list_models(base_url, api_key)
    except ModelFailed as error:
        if error.reason == "refused_key":
            return error.reason
        names = []
    except ModelUnreachable:
        return "no_connection"
    except Unavailable:
        names = []
    return None if model in names else await find_failure(base_url, api_key, model)


async def list_models(base_url: str, api_key: str) -> Sequence[str]:
    """List the names of a server's models. Raises ModelFailed and Unavailable."""
    headers = {"Authorization": f"Bearer {api_key}"}
    try:
        async with httpx.AsyncClient(timeout=LIST_TIMEOUT_S) as client:
            response = await client.get(f"{base_url.rstrip('/')}/models", headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ModelUnreachable(type(error).__name__) from None
    if not response.is_success:
        raise build_error(response.status_code)
    return _parse_names(response)


def _parse_names(response: httpx.Response) -> Sequence[str]:
    try:
        rows = response.json()["data"]
        return [row["id"] for row in rows if isinstance(row["id"], str)][:MAX_NAMES]
    except (ValueError, KeyError, TypeError):
        raise ModelFailed("the list of models cannot be read") from None
