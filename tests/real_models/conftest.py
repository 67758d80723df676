"""Real models in the tests: llama.cpp's server and a small model, installed into a cache of their own.

`LLAMA_SERVER` names another server to ask, `MODELS_DIR` another cache. `LLAMA_ARG_THREADS=1` keeps a server from waiting for
a processor that others use.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from infra.emulators.process import CannotRunError
from infra.model_server.errors import CannotServeModel
from infra.model_server.program import find_program
from infra.model_server.server import ModelServer, ServerOptions, describe_end, run_model_server
from tests.conftest import ROOT, run_or_skip
from tests.real_models.shallow_model import write_shallow_model
from tests.real_models.weights import install_weights

CACHE = Path(os.environ.get("MODELS_DIR") or ROOT / ".cache/models")
OWN_PROGRAM = os.environ.get("LLAMA_SERVER")
LARGE_WINDOW, USUAL_WINDOW = 32_768, 16_384

ALIKE = {"LLAMA_ARG_TEMPERATURE": "0", "LLAMA_ARG_CACHE_RAM": "0"}
"""A server answers alike each time; older ones have no cache but places."""

T = TypeVar("T")


@pytest.fixture(scope="session")
def program() -> Iterator[Path]:
    own = Path(OWN_PROGRAM) if OWN_PROGRAM else None
    with run_or_skip(lambda: offer(lambda: find_program(own, CACHE))) as installed:
        yield installed


@pytest.fixture(scope="session")
def weights() -> Iterator[Path]:
    with run_or_skip(lambda: offer(lambda: install_weights(CACHE))) as installed:
        yield installed


@pytest.fixture(scope="session")
def model_server(
    program: Path, weights: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModelServer]:
    """Serve the model, two questions at once."""
    options = ServerOptions(window_tokens=USUAL_WINDOW, places=2)
    log = tmp_path_factory.mktemp("model") / "server.log"
    with serve(program, weights, options, log) as server:
        yield server


@pytest.fixture(scope="session")
def shallow_server(
    program: Path, weights: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModelServer]:
    """Serve what reads a prompt many times as fast, and writes nonsense."""
    folder = tmp_path_factory.mktemp("shallow")
    write_shallow_model(weights, folder / "shallow.gguf")
    options = ServerOptions(window_tokens=LARGE_WINDOW, places=1)
    with serve(program, folder / "shallow.gguf", options, folder / "server.log") as server:
        yield server


@contextmanager
def serve(program: Path, file: Path, options: ServerOptions, log: Path) -> Iterator[ModelServer]:
    """Serve a model that answers alike each time; fails where the server ended before its tests did."""
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as environment:
            for name, setting in ALIKE.items():
                environment.setenv(name, setting)
            server = stack.enter_context(run_model_server(program, file, "small", options, log))
        yield server
        code = server.process.poll()
        assert code is None, describe_end(code, log)


@contextmanager
def offer(install: Callable[[], T]) -> Iterator[T]:
    """Yield what can be installed. Raises CannotRunError, which names what is missing."""
    try:
        installed = install()
    except CannotServeModel as error:
        raise CannotRunError(str(error)) from error
    yield installed
