"""ToolBox over HTTP: tools of third parties, called through the tool proxy."""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from shared import telemetry
from shared.domain.apps.tool_data import ToolData
from shared.domain.errors import ToolFailed, ToolRefused, Unavailable
from shared.domain.ids import UserId
from shared.ports import Clock, ServiceIdentity
from shared.resilience.retry import retry
from shared.security.delegations import DELEGATION_HEADER, DISCONNECT_CALL_ID, Delegations

if TYPE_CHECKING:
    import httpx

AUDIENCE = "tool_proxy"
_TIMEOUT_S = 35.0
"""A little longer than the proxy waits for an app, so that the proxy's answer arrives first."""
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
            return await retry(post, sleep=self._clock.sleep)
        except (httpx.HTTPError, Unavailable) as error:
            raise ToolFailed("The service that calls apps does not answer.") from error

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
            return await self._client.post(self._url + path, json=body, headers=headers)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Unavailable("no connection to the tool proxy") from error

    @cached_property
    def _client(self) -> "httpx.AsyncClient":
        import httpx

        limits = httpx.Limits(keepalive_expiry=_KEEPALIVE_EXPIRY_S)
        return httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False, limits=limits)
