"""Service calls: run a tool of a connected service with the account's tokens, for the model."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import anyio
from pydantic import ValidationError
from pydantic_core import to_json

from functions.tool_proxy.accounts import account_tokens
from functions.tool_proxy.call_quota import check_quota
from functions.tool_proxy.oauth import requests
from functions.tool_proxy.oauth_deps import ServicesDeps
from functions.tool_proxy.outbound_quota import count_call
from shared.arguments import parse_arguments
from shared.domain.apps.connection import StoredTokens, Tokens
from shared.domain.apps.tool_data import ToolData
from shared.domain.errors import (
    NotAllowed,
    NotFound,
    TimedOut,
    TooLarge,
    ToolFailed,
    ToolRefused,
    Unavailable,
    Unreadable,
)
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.integrations import load_integration
from shared.integrations.service import (
    Integration,
    ServiceItemExists,
    ServiceItemNotFound,
    ServiceRequest,
    ServiceResponseT,
    ServiceTool,
)
from shared.ports import EgressRequest, EgressResponse
from shared.resilience.best_effort import run_best_effort
from shared.resilience.hour_windows import floor_to_hour

TIMEOUT_S = 25.0
"""For a whole call with all its requests; the chat waits a little longer."""
FETCH_TIMEOUT_S = 10.0


async def call_service(
    deps: ServicesDeps,
    uid: UserId,
    name: str,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    call_id: str | None = None,
) -> ToolData:
    """Return what the tool says. Raises ToolRefused and ToolFailed."""
    service = _require_service(name)
    service_tool = _require_tool(service, tool)
    parsed_arguments = parse_arguments(tool, service_tool.arguments_type, arguments)
    hashed_call_id = sha256(f"{uid}|{tool}|{call_id or deps.new_id()}".encode()).hexdigest()
    try:
        async with _count_call(deps, uid, service) as zone:
            account = ConnectedAccount(
                deps=deps, uid=uid, service=service, call_id=hashed_call_id, zone=zone
            )
            with anyio.fail_after(TIMEOUT_S):
                result = await service_tool.run(account, parsed_arguments)
    except TimeoutError as timeout:
        raise ToolFailed(f"{service.label} did not answer in time.") from timeout
    except ServiceItemNotFound as not_found:
        raise ToolFailed(f"{service.label} did not find it.") from not_found
    except ServiceItemExists as duplicate:
        raise ToolFailed(f"{service.label} already has it.") from duplicate
    return result if isinstance(result, ToolData) else ToolData(content=result)


def _require_service(name: str) -> Integration:
    try:
        return load_integration(name)
    except NotFound as error:
        raise ToolRefused(str(error)) from error


def _require_tool(service: Integration, tool: str) -> ServiceTool:
    for service_tool in service.tools:
        if service_tool.name == tool:
            return service_tool
    raise ToolRefused(f"{service.label} has no tool {tool!r}.")


@asynccontextmanager
async def _count_call(
    deps: ServicesDeps, uid: UserId, service: Integration
) -> AsyncIterator[ZoneInfo]:
    """Count a call whether it succeeds or fails, and yield the zone of its owner.

    Raises ToolFailed if the quota is used up.
    """
    now = deps.clock.now()
    context = await deps.stores.app_calls.load_service_context(uid, floor_to_hour(now))
    check_quota(service.service, service.label, context.calls_this_hour, now)
    await count_call(deps, uid)
    try:
        yield context.zone
    finally:
        count = deps.stores.app_calls.increment_count(
            uid, service.service, floor_to_hour(now), is_first=not context.calls_this_hour
        )
        await run_best_effort(count)


@value
class ConnectedAccount:
    """A user's account at a service during one call; a refused token is refreshed once."""

    deps: ServicesDeps
    uid: UserId
    service: Integration
    call_id: str
    zone: ZoneInfo

    @property
    def now(self) -> datetime:
        return self.deps.clock.now()

    async def send(
        self, request: ServiceRequest, response_type: type[ServiceResponseT]
    ) -> ServiceResponseT:
        try:
            response = await self._send_authorized(request)
        except (account_tokens.ConnectionExpired, NotFound) as not_connected:
            raise ToolFailed(str(not_connected)) from not_connected
        except TimedOut as timeout:
            raise ToolFailed(f"{self._label} did not answer in time.") from timeout
        except (Unavailable, NotAllowed, TooLarge) as unavailable:
            raise ToolFailed(f"{self._label} cannot be reached at the moment.") from unavailable
        return self._parse_response(response, response_type)

    async def fetch(self, url: str, *, accepts: Sequence[str], max_bytes: int) -> EgressResponse:
        request = EgressRequest(
            method="GET",
            url=url,
            headers={"Accept": ", ".join(accepts)},
            timeout_s=FETCH_TIMEOUT_S,
            max_bytes=max_bytes,
            accepts=accepts,
        )
        try:
            return await self.deps.egress.send(request)
        except (TimedOut, NotAllowed, TooLarge, Unavailable, Unreadable) as error:
            raise ToolFailed(f"The page cannot be read. {error}") from error

    async def _send_authorized(self, request: ServiceRequest) -> EgressResponse:
        if self.service.connection is None:
            key = account_tokens.get_oauth_client(self.deps, self.service).secret
            return await self._send(request, key)
        stored_tokens = await account_tokens.get_valid_tokens(self.deps, self.uid, self.service)
        response = await self._send(request, stored_tokens.tokens.access_token)
        if response.status != HTTPStatus.UNAUTHORIZED:
            return response
        return await self._retry_with_new_token(request, stored_tokens)

    async def _retry_with_new_token(
        self, request: ServiceRequest, refused_tokens: StoredTokens[Tokens]
    ) -> EgressResponse:
        """Try again with the tokens that follow. Raises ConnectionExpired if they are refused too."""
        deps, uid, service = self.deps, self.uid, self.service
        stored_tokens = await account_tokens.refresh_tokens(deps, uid, service, refused_tokens)
        response = await self._send(request, stored_tokens.tokens.access_token)
        if response.status == HTTPStatus.UNAUTHORIZED:
            raise account_tokens.ConnectionExpired(service)
        return response

    async def _send(self, request: ServiceRequest, token: str) -> EgressResponse:
        url = f"{request.url}?{urlencode(request.query)}" if request.query else request.url
        client = account_tokens.get_oauth_client(self.deps, self.service)
        headers = {"Accept": "application/json", **self.service.headers}
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        return await self.deps.egress.send(
            EgressRequest(
                method=request.method,
                url=requests.with_base_url(client, url),
                headers={**headers, "Authorization": f"Bearer {token}"},
                body=None if request.body is None else to_json(request.body),
                timeout_s=TIMEOUT_S,
            )
        )

    def _parse_response(
        self, response: EgressResponse, response_type: type[ServiceResponseT]
    ) -> ServiceResponseT:
        if response.status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
            raise ServiceItemNotFound(f"{self._label} did not find it")
        if response.status == HTTPStatus.CONFLICT:
            raise ServiceItemExists(f"{self._label} has that already")
        if not 200 <= response.status < 300:
            raise ToolFailed(_describe_refusal(self._label, response.status))
        try:
            return response_type.model_validate_json(response.body or b"{}", context=self.zone)
        except ValidationError:
            # The cause would carry the owner's content into the log.
            raise ToolFailed(f"{self._label} answered in a way we do not understand.") from None

    @property
    def _label(self) -> str:
        return self.service.label


def _describe_refusal(label: str, status: int) -> str:
    """Explain a status to the model, without the service's own text."""
    if status == HTTPStatus.FORBIDDEN:
        return f"{label} does not allow this for the connected account."
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return f"{label} takes no more requests for now. Try again later."
    if status >= 500:
        return f"{label} does not work at the moment (HTTP {status})."
    return f"{label} refused the request (HTTP {status})."
