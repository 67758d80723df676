"""The product with a real model beside it: what `make run MODEL=…` starts, says, serves and ends."""

import os
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from functions.chat import user_texts
from shared.domain.model_failure import CAUSES
from tests.e2e.product import (
    Product,
    ask,
    build_conversation_body,
    run_product,
    wait_for_processing,
)
from tests.e2e.waiting import wait_until
from tests.real_models.conftest import CACHE, OWN_PROGRAM

pytestmark = [pytest.mark.real_model, pytest.mark.usefixtures("program")]

CONVERSATION = build_conversation_body(
    "offsite", "The Lisbon offsite moves to Friday.", "Good, I will book the train."
)
QUESTION = "When is the Lisbon offsite?"
GREETING = re.compile(
    r"keepsake: (\S+) runs on this machine · 491 MB · 2 questions at once, ([\d,]+) tokens each · "
    r"reads \d+ and writes [\d.]+ tokens a second"
)
START_TIMEOUT_S, READ_TIMEOUT_S = 180, 300


@dataclass
class ServedProduct:
    """A product whose model has loaded."""

    product: Product
    folder: Path

    @property
    def log(self) -> str:
        return (self.folder / "product.log").read_text()

    @property
    def model_port(self) -> int:
        return int(self.product.origin.rpartition(":")[2]) + 10_000

    def find_refusals(self) -> list[str]:
        """Return what the model's server refused."""
        lines = (self.folder / "data/model_server.log").read_text().splitlines()
        return [line for line in lines if '"code":4' in line or "parse grammar" in line]

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        with self.product.client("alice") as http:
            http.timeout = httpx.Timeout(READ_TIMEOUT_S)
            yield http


@contextmanager
def serve(folder: Path, weights: Path, **environment: str) -> Iterator[ServedProduct]:
    variables = {"MODEL": str(weights), "MODELS_DIR": str(CACHE), **environment}
    if OWN_PROGRAM:
        variables["LLAMA_SERVER"] = OWN_PROGRAM
    with run_product(folder, **variables) as product:
        served = ServedProduct(product, folder)
        wait_until(lambda: "stop with Ctrl-C" in served.log or None, within_s=START_TIMEOUT_S)
        yield served


@pytest.fixture(scope="module")
def served(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedProduct]:
    with serve(tmp_path_factory.mktemp("product"), weights) as served:
        yield served


@pytest.fixture(scope="module")
def narrow(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedProduct]:
    folder = tmp_path_factory.mktemp("narrow")
    with serve(folder, weights, MODEL_AGENT_WINDOW="4096") as served:
        yield served


@pytest.fixture(params=["served", "narrow"])
def either(request: pytest.FixtureRequest) -> ServedProduct:
    """The product with a usual window, and with one of 4,096 tokens."""
    chosen: ServedProduct = request.getfixturevalue(request.param)
    return chosen


def test_the_start_says_size_window_and_speed(served: ServedProduct, weights: Path) -> None:
    greeting = GREETING.search(served.log)

    assert greeting is not None
    assert greeting.groups() == (weights.stem, "16,384")
    assert f"model {weights.stem}" in served.log


def test_a_conversation_is_processed_and_a_question_about_it_is_answered(
    either: ServedProduct,
) -> None:
    with either.client() as http:
        assert http.post("/v1/conversations", json=CONVERSATION).status_code == 202
        stored = wait_for_processing(http, CONVERSATION["id"], within_s=READ_TIMEOUT_S)
        answer = ask(http, QUESTION)
        told, *_ = http.get("/v2/messages").json()

    assert stored["status"] == "completed"
    assert stored["structured"]["title"]
    assert answer.done is not None
    assert told["metadata"]["outcome"] == "completed"
    assert [notice for notice in list_failure_notices() if notice in answer.text] == []
    assert either.find_refusals() == []


def list_failure_notices() -> list[str]:
    """List what the product says where there is no answer; that a small model repeats itself is none."""
    return [
        *CAUSES.values(),
        user_texts.ANSWER_CUT,
        user_texts.ANSWER_EMPTY,
        user_texts.DEADLINE_PASSED,
        user_texts.INTERNAL_ERROR,
        user_texts.MODEL_BUSY,
        user_texts.MODEL_DOWN,
        user_texts.TOO_MUCH_CONTEXT,
        user_texts.TOO_MUCH_FOR_MODEL,
    ]


def test_nobody_but_the_product_is_answered(served: ServedProduct) -> None:
    url = f"http://127.0.0.1:{served.model_port}"

    assert httpx.post(f"{url}/v1/chat/completions", json={}).status_code == 401
    assert httpx.get(f"{url}/slots").status_code == 401
    assert httpx.get(url).status_code in (401, 404)
    assert not (served.folder / "data/model_server.key").exists()


def test_the_server_ends_with_a_product_that_is_killed(weights: Path, tmp_path: Path) -> None:
    with serve(tmp_path, weights, MODEL_AGENT_WINDOW="4096") as served:
        was_listening = is_listening(served.model_port)
        served.product.process.kill()
        wait_until(lambda: None if is_listening(served.model_port) else True, within_s=30)

    assert was_listening


def test_a_server_that_ends_is_told_in_one_line(weights: Path, tmp_path: Path) -> None:
    with serve(tmp_path, weights, MODEL_AGENT_WINDOW="4096") as served:
        os.kill(find_server(weights, served.model_port), signal.SIGKILL)
        wait_until(lambda: "the model server ended" in served.log or None, within_s=30)
        is_healthy = httpx.get(f"{served.product.origin}/healthz").is_success

    [line] = [line for line in served.log.splitlines() if "the model server ended" in line]
    assert line.startswith("keepsake: the model server ended: it was killed, as happens where")
    assert is_healthy


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def find_server(weights: Path, port: int) -> int:
    """Find the process of a model's server by its command line."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            words = (folder / "cmdline").read_bytes().decode().split("\0")
            if words[0].endswith("llama-server") and {str(weights), str(port)} <= {*words}:
                return int(folder.name)
    raise AssertionError("the server does not run")
