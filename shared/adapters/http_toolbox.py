"""ToolBox over HTTP: tools of third parties, called through the tool proxy."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from shared import telemetry
from shared.adapters.trust_store import load_trust_store
from shared.domain.apps.tool_data import ToolData
from shared.domain.errors import ToolFailed, ToolRefused, Unavailable
from shared.domain.ids import UserId
from shared.ports import Clock, ServiceIdentity
from shared.resilience.retry import compute_backoff_s, retry
from shared.security.delegations import DELEGATION_HEADER, DISCONNECT_CALL_ID, Delegations

if TYPE_CHECKING:
    import httpx

AUDIENCE = "tool_proxy"
_TIMEOUT_S = 35.0
"""A little longer than the proxy waits for an app, so that the proxy's answer arrives first."""
_CONNECT_TIMEOUT_S = 3.0
NETWORK_START_S = 25.0
"""How long a new instance tries to reach the proxy: its network may come up after it, and a call has 30 s."""
_LONGEST_PAUSE = 4
"""Pauses meanwhile double up to that after so many attempts: 0.8 to 1.6 s."""
_KEEPALIVE_EXPIRY_S = 2.0
"""Shorter than a server keeps an idle connection (5 s): a call on a closing one would be lost."""


class HttpToolbox:
    """Calls the tool proxy at `url`, as the function `caller`, each time for one user."""

    def __init__(
        self,
        url: str,
        service_identity: ServiceIdentity,
        delegations: Delegations,
        clock: Clock,
        *,
        caller: str,
    ) -> None:
        self._url = url.rstrip("/")
        self._service_identity = service_identity
        self._delegations = delegations
        self._clock = clock
        self._caller = caller
        self._is_reached = False

    async def call(
        self,
        uid: UserId,
        app_id: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str,
        pin: str,
    ) -> ToolData:
        call = {"app_id": app_id, "tool": tool, "pin": pin, "arguments": dict(arguments)}
        return await self._call_proxy("/", uid, {"call_id": call_id, **call})

    async def call_service(
        self,
        uid: UserId,
        service: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str,
    ) -> ToolData:
        call = {"service": service, "tool": tool, "arguments": dict(arguments)}
        return await self._call_proxy("/services", uid, {"call_id": call_id, **call})

    async def disconnect_all(self, uid: UserId) -> None:
        try:
            sign = partial(self._delegations.sign, "disconnect", uid, DISCONNECT_CALL_ID)
            response = await self._post("/services/disconnect", {}, sign)
        except ToolFailed as error:
            raise Unavailable(str(error)) from error
        if response.status_code != 200:
            raise Unavailable("The service that calls apps could not disconnect the accounts.")

    async def _call_proxy(self, path: str, uid: UserId, body: Mapping[str, Any]) -> ToolData:
        sign = partial(self._delegations.sign, "tool_call", uid, body["call_id"])
        response = await self._post(path, body, sign)
        if response.status_code == 200:
            result = response.json()
            return ToolData(
                content=result["content"],
                entry_type=result["entry_type"],
                hidden_fields=tuple(result["hidden_fields"]),
                shown_text=result["shown_text"],
            )
        if response.status_code == 422:
            raise ToolRefused(response.json()["detail"])
        if response.status_code == 424:
            problem = response.json()
            raise ToolFailed(problem["detail"], connect_url=problem.get("connect_url"))
        raise ToolFailed("The service that calls apps does not answer.")

    async def aclose(self) -> None:
        """Close the pooled connections."""
        await self._client.aclose()

    async def _post(
        self, path: str, body: Mapping[str, Any], sign: Callable[[], str]
    ) -> "httpx.Response":
        import httpx

        try:
            post = partial(self._post_once, path, body, sign)
            if self._is_reached:
                return await retry(post, sleep=self._clock.sleep)
            return await self._try_while_network_starts(post)
        except (httpx.HTTPError, Unavailable) as error:
            raise ToolFailed("The service that calls apps does not answer.") from error

    async def _try_while_network_starts(
        self, post: Callable[[], Awaitable["httpx.Response"]]
    ) -> "httpx.Response":
        end = self._clock.now() + timedelta(seconds=NETWORK_START_S)

        def pause(attempt: int, failure: Unavailable) -> float | None:
            pause_s = compute_backoff_s(min(attempt, _LONGEST_PAUSE), failure)
            return pause_s if self._clock.now() < end else None

        return await retry(post, sleep=self._clock.sleep, attempts=sys.maxsize, backoff=pause)

    async def _post_once(
        self, path: str, body: Mapping[str, Any], sign: Callable[[], str]
    ) -> "httpx.Response":
        """Raises Unavailable if nothing was sent.

        Only then is a second attempt not a second call.
        """
        import httpx

        token = f"Bearer {await self._service_identity.get_token(self._caller, AUDIENCE)}"
        headers = {
            "Authorization": token,
            # Cloud Run checks this one and then leaves the other as it is, with its signature.
            "X-Serverless-Authorization": token,
            DELEGATION_HEADER: sign(),
            **telemetry.get_trace_headers(),
        }
        try:
            response = await self._client.post(self._url + path, json=body, headers=headers)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Unavailable("no connection to the tool proxy") from error
        self._is_reached = True
        return response

    @cached_property
    def _client(self) -> "httpx.AsyncClient":
        import httpx

        timeout = httpx.Timeout(_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S)
        limits = httpx.Limits(keepalive_expiry=_KEEPALIVE_EXPIRY_S)
        return httpx.AsyncClient(
            verify=load_trust_store(), timeout=timeout, trust_env=False, limits=limits
        )
