"""Model endpoint of the local server: what the console sets under Your account → Model.

Only who knows the local key, the person at the machine, reads or changes it. The key of a model is
never sent back.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from infra.local.connected import run_while_connected
from infra.local.local_key import HEADER, LocalKeyCheck
from infra.local.model_check import ModelCheck, Unusable
from shared.adapters.embedded.known_models_file import KnownModelsFile
from shared.adapters.embedded.model_file import ModelFile, ModelKind, ModelSetup
from shared.adapters.system_clock import SystemClock
from shared.domain.amounts import describe_bytes
from shared.domain.errors import CallerError, Conflict, Invalid, TooLarge
from shared.domain.models.model import UNKNOWN_MODEL
from shared.domain.models.model_facts import find_model_facts
from shared.edge.declare.problems import to_problem
from shared.environment.variables import UNSENDABLE, is_sendable
from shared.models.known_models import KnownModels
from shared.models.model_notes import describe_notes
from shared.models.server_facts import list_names
from shared.ports import Clock
from shared.settings import DEFAULT_OPENAI_URL, Settings

MAX_REQUEST_BYTES = 4_096
KEYLESS = "none"
"""What a server without keys is sent: the protocol needs one."""
SET_IN_ENVIRONMENT = (
    "The model is set by OPENAI_API_KEY in the environment of the server. Start it without that to "
    "set it here."
)
UNSENDABLE_KEY = f"The key cannot be sent: {UNSENDABLE}."
NO_LIST = "This server does not list its models. Enter the name of one."
NOTHING_CHANGED = "Nothing was changed."
MAX_NAMES = 500

B = TypeVar("B", bound=BaseModel)


def _strip_key(key: str) -> str:
    """Drop what copying left around a key. Raises Invalid for one that no header can carry."""
    stripped = key.strip()
    if not is_sendable(stripped):
        raise Invalid(UNSENDABLE_KEY)
    return stripped


class ServerRequest(BaseModel):
    """A server of models. Without a key, the stored one counts, at its own address alone."""

    model_config = ConfigDict(extra="forbid")
    base_url: str = Field("", max_length=300)
    api_key: Annotated[str, AfterValidator(_strip_key)] = Field("", max_length=500)


class ModelRequest(ServerRequest):
    """The model to use from now on."""

    kind: ModelKind
    model: str = Field("", max_length=200)
    small_model: str = Field("", max_length=200)


class ModelEndpoint:
    """What the environment sets is shown, and not changed here."""

    def __init__(
        self,
        settings: Settings,
        file: ModelFile,
        key_check: LocalKeyCheck,
        clock: Clock | None = None,
    ) -> None:
        self._settings = settings
        self._file = file
        self._key_check = key_check
        self._clock = clock or SystemClock()
        self._known = KnownModels(KnownModelsFile(file.folder))

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
        """Return the model without its key."""
        if self._settings.openai_api_key:
            models, base_url = self._settings.models, self._settings.openai_base_url
            known = self._known.get((base_url, models["agent"]))
            return {
                "source": "environment",
                "kind": "openai",
                "base_url": base_url,
                "model": models["agent"],
                "small_model": models["fast"],
                "facts": self._describe_facts(base_url, models["agent"]),
                "tested_at": None,
                "notes": describe_notes(known, self._clock.now()),
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
            "facts": self._describe_facts(setup.base_url, setup.model),
            "tested_at": setup.tested_at and setup.tested_at.isoformat(),
            "notes": setup.notes,
        }

    def _describe_facts(self, base_url: str, model: str) -> Mapping[str, Any]:
        """Return what is known of the model that answers, and where its window comes from."""
        known, named = self._known.get((base_url, model)), find_model_facts(model)
        by_setting = self._settings.model_windows.get("agent")
        by_name = "assumed" if named == UNKNOWN_MODEL else "name"
        return {
            "window_tokens": by_setting or known.window_tokens or named.window_tokens,
            "window_source": "setting" if by_setting else known.window_source or by_name,
            "places": known.places,
            "takes_tools": known.takes_tools,
        }

    async def _set(self, request: Request) -> Mapping[str, Any]:
        """Test the model, and store it if it can be used. Raises CallerError.

        Who leaves meanwhile wants neither.
        """
        self._refuse_if_in_environment()
        setup = self._build_setup(await _read(request, ModelRequest))
        notes = await run_while_connected(request, self._test(setup))
        self._file.store(replace(setup, tested_at=self._clock.now(), notes=notes))
        return await self._get(request)

    async def _test(self, setup: ModelSetup) -> tuple[str, ...]:
        """Test both models, and keep what is known of them by then. Raises Invalid."""
        check = self._build_check(setup.base_url, setup.api_key)
        name = setup.model
        try:
            listing = await check.list_models()
            tested = {name: await check.test(name, listing, answers=True)}
            if setup.small_model != name:
                name = setup.small_model
                tested[name] = await check.test(name, listing, answers=False)
        except Unusable as error:
            raise Invalid(f"{error} {NOTHING_CHANGED} (Model {name})") from error
        for model, result in tested.items():
            self._known.set((setup.base_url, model), result.known)
        small_notes = tested[setup.small_model].notes if len(tested) > 1 else ()
        return (
            *tested[setup.model].notes,
            *(f"{setup.small_model}: {note}" for note in small_notes),
        )

    async def _remove(self, request: Request) -> Mapping[str, Any]:
        self._refuse_if_in_environment()
        self._file.delete()
        return await self._get(request)

    async def _list(self, request: Request) -> Mapping[str, Any]:
        self._refuse_if_in_environment()
        server = await _read(request, ServerRequest)
        base_url = _parse_address(server.base_url or DEFAULT_OPENAI_URL)
        check = self._build_check(base_url, self._find_key(server, base_url))
        try:
            names = list_names(await check.list_models())[:MAX_NAMES]
        except Unusable as error:
            raise Invalid(str(error)) from error
        if not names:
            raise Invalid(NO_LIST)
        return {"models": names}

    def _build_check(self, base_url: str, api_key: str) -> ModelCheck:
        return ModelCheck(self._settings, self._clock, base_url=base_url, api_key=api_key)

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
        raise TooLarge(f"A model's settings have at most {describe_bytes(MAX_REQUEST_BYTES)}.")
    try:
        return schema.model_validate_json(await request.body())
    except ValidationError as error:
        fields = ", ".join(
            sorted({str(fault["loc"][0]) for fault in error.errors() if fault["loc"]})
        )
        raise Invalid(f"These settings of a model cannot be used: {fields or 'no JSON'}.") from None
