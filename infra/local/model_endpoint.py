"""Model endpoint of the local server: what the console sets under Your account → Model.

Only who knows the local key, the person at the machine, reads or changes it. The key of a model is
never sent back.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from infra.local.local_key import HEADER, LocalKeyCheck
from infra.local.model_check import TOOL, find_failure, list_models
from shared.adapters.embedded.model_file import ModelFile, ModelKind, ModelSetup
from shared.domain.errors import (
    CallerError,
    Conflict,
    Invalid,
    ModelFailed,
    ModelUnreachable,
    TooLarge,
    Unavailable,
)
from shared.domain.failure import FailureReason
from shared.domain.model_failure import describe_model_failure
from shared.edge.problems import to_problem
from shared.settings import DEFAULT_OPENAI_URL, Settings

MAX_REQUEST_BYTES = 4_096
KEYLESS = "none"
"""What a server without keys is sent: the protocol needs one."""
SET_IN_ENVIRONMENT = (
    "The model is set by OPENAI_API_KEY in the environment of the server. Start it without that to "
    "set it here."
)
REFUSES_TOOLS = (
    "The model answers, but not when it is offered tools, which questions need: choose another."
)

B = TypeVar("B", bound=BaseModel)


class ServerRequest(BaseModel):
    """A server of models. Without a key, the stored one counts, at its own address alone."""

    model_config = ConfigDict(extra="forbid")
    base_url: str = Field("", max_length=300)
    api_key: str = Field("", max_length=500, pattern=r"^[!-~]*$")


class ModelRequest(ServerRequest):
    """The model to use from now on."""

    kind: ModelKind
    model: str = Field("", max_length=200)
    small_model: str = Field("", max_length=200)


class ModelEndpoint:
    """What the environment sets is shown, and not changed here."""

    def __init__(self, settings: Settings, file: ModelFile, key_check: LocalKeyCheck) -> None:
        self._settings = settings
        self._file = file
        self._key_check = key_check

    async def handle(self, request: Request) -> Response:
        """Answer `GET`, `PUT` and `DELETE /local/model`."""
        work = {"PUT": self._set, "DELETE": self._remove}.get(request.method, self._get)
        return await self._guard(request, work)

    async def list_names(self, request: Request) -> Response:
        """Answer `POST /local/model/names`: which models a server has."""
        return await self._guard(request, self._list)

    async def _guard(
        self, request: Request, work: Callable[[Request], Awaitable[Mapping[str, Any]]]
    ) -> Response:
        address = request.client.host if request.client else ""
        try:
            self._key_check.check(request.headers.get(HEADER, ""), address)
            return JSONResponse(await work(request), headers={"Cache-Control": "no-store"})
        except CallerError as error:
            return to_problem(error)

    async def _get(self, _: Request) -> Mapping[str, Any]:
        """Return the model without its key, and what search compares by: no key set here is for it."""
        return {**self._describe_model(), "search": self._settings.embedder or "words"}

    def _describe_model(self) -> Mapping[str, Any]:
        if self._settings.openai_api_key:
            models = self._settings.models
            return {
                "source": "environment",
                "kind": "openai",
                "base_url": self._settings.openai_base_url,
                "model": models["agent"],
                "small_model": models["fast"],
            }
        setup = self._file.load()
        if setup is None:
            return {"source": "offline"}
        return {
            "source": "console",
            "kind": setup.kind,
            "base_url": setup.base_url,
            "model": setup.model,
            "small_model": setup.small_model,
        }

    async def _set(self, request: Request) -> Mapping[str, Any]:
        """Test the model, and store it if it can be used. Raises CallerError."""
        self._refuse_if_in_environment()
        setup = self._build_setup(await _read(request, ModelRequest))
        for name in sorted({setup.model, setup.small_model}):
            reason = await find_failure(setup.base_url, setup.api_key, name)
            if reason:
                raise Invalid(f"{_describe(reason)} Nothing was changed. (Model {name})")
        if await find_failure(setup.base_url, setup.api_key, setup.model, [TOOL]):
            raise Invalid(f"{REFUSES_TOOLS} Nothing was changed. (Model {setup.model})")
        self._file.store(setup)
        return await self._get(request)

    async def _remove(self, request: Request) -> Mapping[str, Any]:
        self._refuse_if_in_environment()
        self._file.delete()
        return await self._get(request)

    async def _list(self, request: Request) -> Mapping[str, Any]:
        self._refuse_if_in_environment()
        server = await _read(request, ServerRequest)
        base_url = _parse_address(server.base_url or DEFAULT_OPENAI_URL)
        try:
            return {"models": await list_models(base_url, self._find_key(server, base_url))}
        except ModelFailed as error:
            raise Invalid(_describe(error.reason)) from error
        except ModelUnreachable as error:
            raise Invalid(_describe("no_connection")) from error
        except Unavailable as error:
            raise Invalid(_describe("other")) from error

    def _refuse_if_in_environment(self) -> None:
        if self._settings.openai_api_key:
            raise Conflict(SET_IN_ENVIRONMENT)

    def _build_setup(self, wanted: ModelRequest) -> ModelSetup:
        base_url = _parse_address(wanted.base_url or DEFAULT_OPENAI_URL)
        models = self._settings.models if wanted.kind == "openai" else {}
        model = wanted.model or models.get("agent", "")
        if not model:
            raise Invalid("Name the model to use.")
        return ModelSetup(
            kind=wanted.kind,
            base_url=base_url,
            api_key=self._find_key(wanted, base_url),
            model=model,
            small_model=wanted.small_model or models.get("fast", model),
        )

    def _find_key(self, server: ServerRequest, base_url: str) -> str:
        """Return the key to send; the stored one is never sent to another address."""
        stored_setup = self._file.load()
        if server.api_key or stored_setup is None or stored_setup.base_url != base_url:
            return server.api_key or KEYLESS
        return stored_setup.api_key


def _describe(reason: FailureReason) -> str:
    return describe_model_failure(reason, "console")


def _parse_address(text: str) -> str:
    """Return the address of a server; any may be named by who runs this one. Raises Invalid."""
    try:
        parts = urlsplit(text.strip())
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_plain = not (parts.username or parts.password or parts.query or parts.fragment)
    except ValueError:
        is_address = is_plain = False
    if not (is_address and is_plain):
        raise Invalid("The address must be one such as http://127.0.0.1:11434/v1.")
    return text.strip().rstrip("/")


async def _read(request: Request, schema: type[B]) -> B:
    """Raises TooLarge, Invalid; neither quotes what was sent, which may be a key."""
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > MAX_REQUEST_BYTES:
        raise TooLarge(f"A model's settings have at most {MAX_REQUEST_BYTES:,} bytes.")
    try:
        return schema.model_validate_json(await request.body())
    except ValidationError as error:
        fields = ", ".join(
            sorted({str(fault["loc"][0]) for fault in error.errors() if fault["loc"]})
        )
        raise Invalid(f"These settings of a model cannot be used: {fields or 'no JSON'}.") from None
