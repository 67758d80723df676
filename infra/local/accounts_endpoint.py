"""Accounts endpoint of a self-hosted server: people change their password, and the operator invites others."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from infra.local.passwords import PasswordCheck, generate_password, hash_password
from shared.adapters.embedded.password_file import PasswordFile
from shared.domain.errors import CallerError, Conflict, Invalid, NotAllowed, TooLarge
from shared.domain.ids import UserId, is_id
from shared.edge.declare.bearer_tokens import parse_bearer_token
from shared.edge.declare.problems import to_problem
from shared.ports import Clock, Identity
from shared.settings import Settings

MAX_REQUEST_BYTES = 1_024
SET_IN_ENVIRONMENT = "This password is set by KEEPSAKE_PASSWORD or PASSWORD_FILE, where the server is started. Change it there."
ONLY_THE_OPERATOR = "Only the operator of this server lists and invites people."
UNREADABLE = "Send a name and passwords as JSON."

B = TypeVar("B", bound=BaseModel)


class PasswordChange(BaseModel):
    """An account, its password, and the one that it shall have."""

    model_config = ConfigDict(extra="forbid")
    uid: str = Field(max_length=64)
    password: str = Field(max_length=200)
    new_password: str = Field(max_length=200)


class Invitation(BaseModel):
    """The name of who is invited, which is also that of their library."""

    model_config = ConfigDict(extra="forbid")
    uid: str = Field(max_length=64)


class AccountsEndpoint:
    """The operator is who the first account belongs to, KEEPSAKE_USER."""

    def __init__(
        self,
        settings: Settings,
        file: PasswordFile,
        check: PasswordCheck,
        identity: Identity,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._file = file
        self._check = check
        self._identity = identity
        self._clock = clock

    async def change_password(self, request: Request) -> Response:
        """Answer `POST /local/password`; sessions that began with the older password end."""
        return await _answer(request, self._change_password)

    async def handle_accounts(self, request: Request) -> Response:
        """Answer `GET` and `POST /local/accounts`: the names, and a new account with the password made for it."""
        return await _answer(request, self._list if request.method == "GET" else self._invite)

    async def _change_password(self, request: Request) -> Response:
        change = await _read(request, PasswordChange)
        address = request.client.host if request.client else ""
        await self._check.check(change.uid, change.password, address)
        if change.uid == self._settings.user and (
            self._settings.password or self._settings.password_file
        ):
            raise Conflict(SET_IN_ENVIRONMENT)
        await self._store(change.uid, change.new_password)
        return Response(status_code=204)

    async def _list(self, request: Request) -> Response:
        await self._require_operator(request)
        return JSONResponse({"names": self._file.list_names()})

    async def _invite(self, request: Request) -> Response:
        await self._require_operator(request)
        name = (await _read(request, Invitation)).uid
        if not is_id(name):
            raise Invalid("A name has 1 to 64 letters, digits, hyphens or underscores.")
        if self._file.find_hash(name) is not None:
            raise Conflict(f"{name} can sign in already.")
        password = generate_password()
        await self._store(name, password)
        return JSONResponse({"name": name, "password": password}, status_code=201)

    async def _store(self, name: str, password: str) -> None:
        password_hash = await anyio.to_thread.run_sync(hash_password, password)
        self._file.store(name, password_hash, now=self._clock.now())

    async def _require_operator(self, request: Request) -> None:
        """Raises NotAuthenticated, NotAllowed."""
        token = parse_bearer_token(request.headers)
        verified = await self._identity.verify(token, check="revocation")
        if verified.uid != UserId(self._settings.user):
            raise NotAllowed(ONLY_THE_OPERATOR)


async def _answer(request: Request, act: Callable[[Request], Awaitable[Response]]) -> Response:
    try:
        response = await act(request)
    except CallerError as error:
        return to_problem(error)
    response.headers["Cache-Control"] = "no-store"
    return response


async def _read(request: Request, kind: type[B]) -> B:
    """Raises TooLarge, Invalid."""
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > MAX_REQUEST_BYTES:
        raise TooLarge("A request about accounts is small, and says how long it is.")
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        raise Invalid(UNREADABLE) from error
