"""One call of a service's tool: the account's tokens, the service's answer, text for the model."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import anyio
from pydantic import ValidationError
from pydantic_core import to_json

from functions.tool_proxy.accounts import grants
from functions.tool_proxy.authorization import oauth
from functions.tool_proxy.calls.noted import noted
from functions.tool_proxy.calls.quota import check_quota
from functions.tool_proxy.wiring import ServicesDeps
from shared.arguments import checked
from shared.domain.connection import Grant
from shared.domain.errors import (
    NotAllowed,
    NotFound,
    TimedOut,
    TooLarge,
    ToolFailed,
    ToolRefused,
    Unavailable,
)
from shared.domain.hours import hour_of
from shared.domain.ids import UserId
from shared.integrations import integration
from shared.integrations.service import A, Duplicate, Integration, Missing, Request, ServiceTool
from shared.ports import EgressRequest, EgressResponse

TIMEOUT_S = 25.0
"""For a whole call, however many requests it makes: the chat waits a little longer."""


async def call_service(
    deps: ServicesDeps,
    uid: UserId,
    name: str,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    call_id: str | None = None,
) -> str:
    """Return text for the model. Raises ToolRefused and ToolFailed."""
    service = _known(name)
    declared = _declared(service, tool)
    asked = checked(tool, declared.asked, arguments)
    unique = sha256(f"{uid}|{tool}|{call_id or deps.new_id()}".encode()).hexdigest()
    account = ConnectedAccount(deps, uid, service, call_id=unique)
    try:
        async with _counted(deps, uid, service):
            with anyio.fail_after(TIMEOUT_S):
                return await declared.run(account, asked)
    except TimeoutError as late:
        raise ToolFailed(f"{service.label} did not answer in time.") from late
    except Missing as missing:
        raise ToolFailed(f"{service.label} has no such thing.") from missing
    except Duplicate as duplicate:
        raise ToolFailed(f"{service.label} has that already.") from duplicate


def _known(name: str) -> Integration:
    try:
        return integration(name)
    except NotFound as unknown:
        raise ToolRefused(str(unknown)) from unknown


def _declared(service: Integration, tool: str) -> ServiceTool:
    for declared in service.tools:
        if declared.name == tool:
            return declared
    raise ToolRefused(f"{service.label} has no tool {tool!r}.")


@asynccontextmanager
async def _counted(deps: ServicesDeps, uid: UserId, service: Integration) -> AsyncIterator[None]:
    """Count a call, however it ends, as one to an app. Raises ToolFailed if none is left."""
    now = deps.clock.now()
    made = await deps.app_calls.made(uid, hour_of(now))
    check_quota(service.service, service.label, made, now)
    try:
        yield
    finally:
        count = deps.app_calls.count(uid, service.service, hour_of(now), is_first=not made)
        await noted(count)


class ConnectedAccount:
    """A user's account at a service, during one call: its token is renewed if it is refused."""

    def __init__(
        self, deps: ServicesDeps, uid: UserId, service: Integration, *, call_id: str
    ) -> None:
        self._deps = deps
        self._uid = uid
        self._service = service
        self._call_id = call_id

    @property
    def now(self) -> datetime:
        return self._deps.clock.now()

    @property
    def call_id(self) -> str:
        return self._call_id

    async def send(self, request: Request, answer: type[A]) -> A:
        try:
            response = await self._answered(request)
        except (grants.Expired, NotFound) as unconnected:
            raise ToolFailed(str(unconnected)) from unconnected
        except TimedOut as late:
            raise ToolFailed(f"{self._label} did not answer in time.") from late
        except (Unavailable, NotAllowed, TooLarge) as broken:
            raise ToolFailed(f"{self._label} cannot be reached at the moment.") from broken
        return self._read(response, answer)

    async def _answered(self, request: Request) -> EgressResponse:
        if self._service.consent is None:
            key = grants.client_of(self._deps, self._service).secret
            return await self._send(request, key)
        grant = await grants.current(self._deps, self._uid, self._service)
        response = await self._send(request, grant.tokens.access_token)
        if response.status != HTTPStatus.UNAUTHORIZED:
            return response
        return await self._once_more(request, grant)

    async def _once_more(self, request: Request, refused: Grant) -> EgressResponse:
        """Try again with the tokens that follow; refused once more, only the owner can help."""
        deps, uid, service = self._deps, self._uid, self._service
        grant = await grants.following(deps, uid, service, refused)
        response = await self._send(request, grant.tokens.access_token)
        if response.status == HTTPStatus.UNAUTHORIZED:
            raise grants.Expired(service)
        return response

    async def _send(self, request: Request, token: str) -> EgressResponse:
        url = request.url
        if request.query:
            url += "?" + urlencode(request.query)
        headers = {"Accept": "application/json", **self._service.headers}
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        return await self._deps.egress.send(
            EgressRequest(
                method=request.method,
                url=oauth.at(grants.client_of(self._deps, self._service), url),
                headers={**headers, "Authorization": f"Bearer {token}"},
                body=None if request.body is None else to_json(request.body),
                timeout_s=TIMEOUT_S,
            )
        )

    def _read(self, response: EgressResponse, answer: type[A]) -> A:
        if response.status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
            raise Missing(f"{self._label} has no such thing")
        if response.status == HTTPStatus.CONFLICT:
            raise Duplicate(f"{self._label} has that already")
        if not 200 <= response.status < 300:
            raise ToolFailed(_refusal(self._label, response.status))
        try:
            return answer.model_validate_json(response.body or b"{}")
        except ValidationError:
            # The cause would carry the owner's content into the log.
            raise ToolFailed(f"{self._label} answered in a way we do not understand.") from None

    @property
    def _label(self) -> str:
        return self._service.label


def _refusal(label: str, status: int) -> str:
    """Say what a status means for whoever asked; the service's own words stay out of it."""
    if status == HTTPStatus.FORBIDDEN:
        return f"{label} does not allow this for the connected account."
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return f"{label} takes no more requests for now. Try again later."
    if status >= 500:
        return f"{label} does not work at the moment (HTTP {status})."
    return f"{label} refused the request (HTTP {status})."
