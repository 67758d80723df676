"""Free questions to an OpenAI-compatible server: its list of models, and what it tells of one of them.

They cost nothing, and take a second or so.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import anyio
import httpx
from pydantic_core import from_json

from shared.adapters.trust_store import load_trust_store
from shared.domain.errors import ModelFailed, ModelUnreachable
from shared.models.refusals import read_refusal
from shared.models.server_facts import NOTHING_TOLD, Method, ServerFacts, ask_server

LIST_TIMEOUT_S = 5.0
"""A provider far away lists hundreds of models."""
FACTS_TIMEOUT_S = 1.0
MAX_LIST_BYTES = 8 * 1_048_576
"""OpenRouter's list has about one; more counts as none."""
_MAX_REFUSAL_BYTES = 65_536
_UNREACHABLE = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.InvalidURL,
    httpx.UnsupportedProtocol,
)


class OpenaiServer:
    """One address, asked with one key. It makes one attempt at each question."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        list_timeout_s: float = LIST_TIMEOUT_S,
        facts_timeout_s: float = FACTS_TIMEOUT_S,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._key = api_key.strip()
        self._list_timeout_s = list_timeout_s
        self._facts_timeout_s = facts_timeout_s

    async def list_models(self, now: datetime) -> Any:
        """Return what `/models` says, parsed; None where the server has no list for this key.

        Raises ModelUnreachable, and ModelFailed for a refused key or for what is no such server.
        """
        if not self._is_sendable:
            raise ModelFailed("the key cannot be sent in a header", reason="refused_key")
        try:
            with anyio.fail_after(self._list_timeout_s):
                async with (
                    httpx.AsyncClient(
                        verify=load_trust_store(),
                        timeout=self._list_timeout_s,
                        follow_redirects=True,
                    ) as client,
                    client.stream(
                        "GET", f"{self._base_url}/models", headers=self._headers
                    ) as answer,
                ):
                    if answer.is_success:
                        return _parse_list(await _read(answer, MAX_LIST_BYTES))
                    body = await _read(answer, _MAX_REFUSAL_BYTES)
        except _UNREACHABLE as error:
            raise ModelUnreachable(type(error).__name__) from None
        except httpx.RemoteProtocolError:
            raise ModelFailed("what answers speaks no HTTP", reason="wrong_server") from None
        except (httpx.HTTPError, TimeoutError):
            return None  # it may be busy with an answer
        refusal = read_refusal(answer.status_code, answer.headers, body, now)
        # A key may be good for answers alone: such a one is refused here with 403.
        if answer.status_code != 403 and refusal.find_reason() == "refused_key":
            raise refusal.build_error("refused_key")
        return None

    async def ask_facts(self, model: str, listing: Any = None) -> ServerFacts:
        """Return what the server tells of a model; `listing` is what list_models() returned."""
        if not self._is_sendable:
            return NOTHING_TOLD
        deadline = anyio.current_time() + self._facts_timeout_s
        timeout = httpx.Timeout(self._facts_timeout_s)
        async with httpx.AsyncClient(
            verify=load_trust_store(), timeout=timeout, headers=self._headers
        ) as client:

            async def fetch(method: Method, url: str, body: Mapping[str, Any] | None = None) -> Any:
                with anyio.CancelScope(deadline=deadline):
                    return await _fetch_json(client, method, url, body)
                return None

            return await ask_server(fetch, self._base_url, model, listing)

    @property
    def _is_sendable(self) -> bool:
        """Tell whether a header can carry the key; a stored one may have been edited by hand."""
        return self._key.isascii() and self._key.isprintable()

    @property
    def _headers(self) -> Mapping[str, str]:
        return {
            "Authorization": f"Bearer {self._key}",
            "User-Agent": "keepsake",
            "Accept-Encoding": "identity",
        }


async def _fetch_json(
    client: httpx.AsyncClient, method: Method, url: str, body: Mapping[str, Any] | None
) -> Any:
    try:
        async with client.stream(method, url, json=body) as answer:
            if not answer.is_success:
                return None
            return from_json(await _read(answer, MAX_LIST_BYTES))
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return None


async def _read(answer: httpx.Response, max_bytes: int) -> bytes:
    """Read a body; what is longer is cut, so that it is no JSON."""
    content = bytearray()
    async for chunk in answer.aiter_bytes():
        content += chunk
        if len(content) > max_bytes:
            break
    return bytes(content[:max_bytes])


def _parse_list(body: bytes) -> Any:
    """Raises ModelFailed for a page, or anything else that is no JSON."""
    try:
        return from_json(body)
    except ValueError:
        raise ModelFailed("the list of models is no JSON", reason="wrong_server") from None
