"""Local model: the one that MODEL names, run beside the product for people who have none."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

from infra.model_server.errors import CannotServeModel
from infra.model_server.gguf import read_header
from infra.model_server.hub import NAME, Hub, describe_size
from infra.model_server.model_files import measure_size
from infra.model_server.program import find_program
from infra.model_server.server import (
    ModelServer,
    ServerOptions,
    choose_window,
    describe_end,
    measure_free_memory,
    run_model_server,
)
from shared import telemetry
from shared.domain.models.model import ModelRole
from shared.settings import Settings, SettingsError

LOG_NAME = "model_server.log"
PORT_DISTANCE = 10_000
"""How far the model's port is from the product's, where that is free."""
WATCH_INTERVAL_S = 1.0
"""How often it is looked whether the server still runs."""
FIRST_QUESTION_TOKENS = 6_000
"""What a first question takes in a large window: our rules and all tools."""


@contextmanager
def run_local_model(settings: Settings, wanted: str) -> Iterator[ModelServer]:
    """Serve the model that MODEL names while the product runs. Raises SettingsError."""
    try:
        file = find_file(settings, wanted)
        header, size_bytes = read_header(file), measure_size(file)
        window_tokens = settings.model_windows.get("agent") or choose_window(
            header.context_tokens, header.token_bytes, measure_free_memory(size_bytes)
        )
        options = ServerOptions(window_tokens=window_tokens, port=settings.port + PORT_DISTANCE)
        program = find_program(settings.llama_server, settings.models_dir)
        log = settings.data_dir / LOG_NAME
        name = file.stem.replace(",", "-")  # a comma would begin another name
        with run_model_server(program, file, name, options, log) as server:
            print(describe_server(server, size_bytes), flush=True)
            yield server
    except CannotServeModel as error:
        raise SettingsError(f"MODEL={wanted}: {error}") from error


def find_file(settings: Settings, wanted: str) -> Path:
    """Return the file of a path, or of a name that the hub knows. Raises CannotServeModel."""
    path = Path(wanted).expanduser()
    if path.is_file():
        return path
    if path.is_dir():
        raise CannotServeModel("this is a folder: name a GGUF file in it")
    if wanted.endswith(".gguf") or not NAME.fullmatch(wanted):
        raise CannotServeModel(
            "there is no such file: name a GGUF file, or a model as owner/name, which is fetched"
        )
    try:
        return Hub(url=settings.hub_url, token=settings.hub_token).fetch(
            wanted, settings.models_dir
        )
    except CannotServeModel as error:
        raise CannotServeModel(
            f"there is no such file, and no such model can be fetched: {error}"
        ) from error


def describe_server(server: ModelServer, size_bytes: int) -> str:
    """Measure the model, and say its size, window and speed in a line."""
    speed = server.measure_speed()
    return (
        f"keepsake: {server.model} runs on this machine · {describe_size(size_bytes)} · "
        f"{server.places} questions at once, {server.window_tokens:,} tokens each · reads "
        f"{speed.read:,.0f} and writes {speed.written:,.1f} tokens a second, so that a first answer "
        f"begins after about {FIRST_QUESTION_TOKENS / speed.read:,.0f} s"
    )


def build_environment(server: ModelServer) -> Mapping[str, str]:
    """Return the environment in which this server answers for every role."""
    roles = [role.upper() for role in get_args(ModelRole)]
    return {
        "OPENAI_API_KEY": server.api_key,
        "OPENAI_BASE_URL": server.base_url,
        "OPENROUTER_API_KEY": server.api_key,
        "OPENROUTER_BASE_URL": server.base_url,
        **{f"MODEL_{role}": server.model for role in roles},
        **{f"MODEL_{role}_WINDOW": str(server.window_tokens) for role in roles},
    }


async def watch_local_model(server: ModelServer) -> None:
    """Say why the server of the model ended, if it does before the product."""
    while (code := server.process.poll()) is None:  # noqa: ASYNC110 - no event crosses processes
        await asyncio.sleep(WATCH_INTERVAL_S)
    telemetry.error("model_server_ended", exit_code=code)
    print(
        f"keepsake: the model server ended: {describe_end(code, server.log)}. Nothing answers until "
        "you start Keepsake again",
        flush=True,
    )
