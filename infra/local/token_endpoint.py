"""Token endpoint of the local server: signs in with the local key, or with an account's password."""

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from infra.local.local_key import HEADER, LocalKeyCheck
from infra.local.passwords import PasswordCheck
from shared.adapters.embedded.local_identity import LocalIdentity
from shared.domain.errors import CallerError, Invalid, TooLarge
from shared.domain.ids import UserId
from shared.edge.declare.problems import to_problem

MAX_REQUEST_BYTES = 1_024


class TokenRequest(BaseModel):
    """The user to sign in as, and their password where the server asks for one."""

    uid: str
    password: str = ""


class TokenEndpoint:
    """Without `passwords`, the server is for its own account, and the key alone signs in."""

    def __init__(
        self,
        identity: LocalIdentity,
        key_check: LocalKeyCheck,
        passwords: PasswordCheck | None = None,
    ) -> None:
        self._identity = identity
        self._key_check = key_check
        self._passwords = passwords

    async def issue(self, request: Request) -> Response:
        """Answer `POST /local/token`."""
        try:
            return JSONResponse({"token": await self._admit(request)})
        except CallerError as error:
            return to_problem(error)

    async def describe_sign_in(self, _: Request) -> Response:
        """Answer `GET /config.json`: what the console asks for."""
        sign_in = "password" if self._passwords else "key"
        return JSONResponse({"sign_in": sign_in}, headers={"Cache-Control": "no-store"})

    async def _admit(self, request: Request) -> str:
        """Check key or password, and issue the token. Raises CallerError."""
        address = request.client.host if request.client else ""
        if self._passwords is None or HEADER in request.headers:
            self._key_check.check(request.headers.get(HEADER, ""), address)
            return self._identity.issue(UserId((await _read_request(request)).uid))
        token_request = await _read_request(request)
        await self._passwords.check(token_request.uid, token_request.password, address)
        return self._identity.issue(UserId(token_request.uid))


async def _read_request(request: Request) -> TokenRequest:
    """Raises TooLarge, Invalid."""
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > MAX_REQUEST_BYTES:
        raise TooLarge("A request for a token is small, and says how long it is.")
    try:
        return TokenRequest.model_validate_json(await request.body())
    except ValidationError as error:
        raise Invalid("Send a name of 1 to 64 letters, digits, hyphens or underscores.") from error
