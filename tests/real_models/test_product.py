"""The product with a real model beside it: what `make run MODEL=…` starts, says, serves and ends."""

import os
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from functions.chat import user_texts
from infra.model_server.server import ServerOptions
from shared.domain.models.model_failure import CAUSES
from tests.e2e.product import (
    Product,
    ask,
    build_conversation_body,
    run_product,
    wait_for_processing,
)
from tests.e2e.waiting import wait_until
from tests.real_models.conftest import ALIKE, CACHE, OWN_PROGRAM
from tests.real_models.conftest import serve as serve_model
from tests.real_models.recording_proxy import Body, RecordingProxy
from tests.servers import run_server

pytestmark = [pytest.mark.real_model, pytest.mark.usefixtures("program")]

LINES = (
    "The Lisbon offsite moves to Friday, because the hotel has no rooms for us before that day.",
    "Good, I will book the train for all of us, and I will ask whether the fast one has a table.",
    "Please do that today, since the tickets cost twice as much when the weekend is near.",
    "And who brings the screen for the talks? The one of the hotel was broken when we were there last.",
    "I can bring mine, it is small but bright, and the cables are in the same bag since the last time.",
    "Then I only have to tell the others that we eat together on Thursday evening near the river.",
)
CONVERSATION = build_conversation_body("offsite", *LINES)
"""Longer than what a model may take for nothing."""
QUESTION = "When is the Lisbon offsite?"
GREETING = re.compile(
    r"keepsake: (\S+) runs on this machine · 491 MB · 2 questions at once, ([\d,]+) tokens each · "
    r"reads \d+ and writes [\d.]+ tokens a second"
)
SEARCH = "search_conversations"
TOOL_FIELDS = ("tools", "tool_choice", "parallel_tool_calls")
WRITTEN_CALL = {
    "type": "json_schema",
    "json_schema": {
        "schema": {
            "type": "object",
            "properties": {
                "name": {"enum": [SEARCH]},
                "arguments": {
                    "type": "object",
                    "properties": {"query": {"type": "string"}},
                    "required": ["query"],
                    "additionalProperties": False,
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
    },
}
"""A call as a model of this size writes it: as its answer."""
START_TIMEOUT_S, READ_TIMEOUT_S = 180, 600


@dataclass(frozen=True, slots=True)
class ModelProcess:
    """A running server of a model."""

    pid: int
    port: int


@dataclass
class ServedProduct:
    """A product whose model has loaded."""

    product: Product
    folder: Path

    @property
    def log(self) -> str:
        return (self.folder / "product.log").read_text()

    def find_model(self) -> "ModelProcess":
        """Find the process of its model's server, whose port is another than the usual where that one is taken."""
        key_file = str(self.folder / "data/model_server.key")
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                words = (folder / "cmdline").read_bytes().decode().split("\0")
                if words[0].endswith("llama-server") and key_file in words:
                    port = int(words[words.index("--port") + 1])
                    return ModelProcess(pid=int(folder.name), port=port)
        raise AssertionError("the server does not run")

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
    variables = {"MODEL": str(weights), "MODELS_DIR": str(CACHE), **ALIKE, **environment}
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
def narrow(
    program: Path, weights: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ServedProduct, RecordingProxy]]:
    """Serve the product with a window of 4,096 tokens, whose model is helped to search and to answer."""
    folder = tmp_path_factory.mktemp("narrow")
    options = ServerOptions(window_tokens=4_096)
    with serve_model(program, weights, options, folder / "server.log") as server:
        proxy = RecordingProxy(server.origin, search_then_answer)
        with (
            run_server(proxy) as url,
            run_product(
                folder,
                OPENAI_API_KEY=server.api_key,
                OPENAI_BASE_URL=f"{url}/v1",
                **{f"MODEL_{role}": "small" for role in ("AGENT", "STANDARD", "READER", "FAST")},
            ) as product,
        ):
            yield ServedProduct(product, folder), proxy


def search_then_answer(body: Body) -> Body:
    """Have a question call the search, in words of the model's own, and answer by what comes back."""
    tools = body.get("tools", [])
    names = [tool["function"]["name"] for tool in tools]
    if SEARCH not in names:
        return body
    without_tools = {name: part for name, part in body.items() if name not in TOOL_FIELDS}
    if any(message["role"] == "tool" for message in body["messages"]):
        return without_tools
    return {**without_tools, "response_format": WRITTEN_CALL, "temperature": 0}


def test_the_start_says_size_window_and_speed(served: ServedProduct, weights: Path) -> None:
    greeting = GREETING.search(served.log)

    assert greeting is not None
    assert greeting.groups() == (weights.stem, "16,384")
    assert f"model {weights.stem}" in served.log


def test_a_conversation_is_processed_and_a_question_about_it_is_never_refused(
    served: ServedProduct,
) -> None:
    with served.client() as http:
        stored = process(http)
        answer = ask(http, QUESTION)

    assert stored["status"] == "completed"
    assert answer.done is not None
    assert [notice for notice in list_failure_notices() if notice in answer.text] == []
    assert served.find_refusals() == []


def test_in_a_window_of_4096_tokens_a_question_that_needs_a_search_is_answered(
    narrow: tuple[ServedProduct, RecordingProxy],
) -> None:
    product, proxy = narrow
    with product.client() as http:
        stored = process(http)
        answer = ask(http, QUESTION)

    assert stored["status"] == "completed"
    assert answer.done is not None
    [found] = list_search_results(proxy)
    assert "Lisbon" in found
    assert [notice for notice in list_notices() if notice in answer.text] == []
    assert proxy.refusals == []


def process(http: httpx.Client) -> dict[str, Any]:
    """Add a conversation, and return it as it is when its processing ended."""
    assert http.post("/v1/conversations", json=CONVERSATION).status_code == 202
    return wait_for_processing(http, CONVERSATION["id"], within_s=READ_TIMEOUT_S)


def list_search_results(proxy: RecordingProxy) -> set[str]:
    """List what the model was given of searches."""
    messages = [message for call in proxy.calls for message in call.body["messages"]]
    return {message["content"] for message in messages if message["role"] == "tool"}


def list_notices() -> list[str]:
    """List what the product says in the place of an answer."""
    own = (user_texts.ANSWER_EMPTY, user_texts.CALL_REPEATED)
    return [*list_failure_notices(), *own]


def list_failure_notices() -> list[str]:
    """List what the product says where a model cannot be asked; that this one finds no call is none."""
    return [
        *CAUSES.values(),
        user_texts.ANSWER_CUT,
        user_texts.DEADLINE_PASSED,
        user_texts.INTERNAL_ERROR,
        user_texts.MODEL_BUSY,
        user_texts.MODEL_DOWN,
        user_texts.TOO_MUCH_CONTEXT,
        user_texts.TOO_MUCH_FOR_MODEL,
    ]


def test_nobody_but_the_product_is_answered(served: ServedProduct) -> None:
    url = f"http://127.0.0.1:{served.find_model().port}"

    assert httpx.post(f"{url}/v1/chat/completions", json={}).status_code == 401
    assert httpx.get(f"{url}/slots").status_code == 401
    assert httpx.get(url).status_code in (401, 404)
    assert not (served.folder / "data/model_server.key").exists()


def test_the_server_ends_with_a_product_that_is_killed(weights: Path, tmp_path: Path) -> None:
    with serve(tmp_path, weights, MODEL_AGENT_WINDOW="4096") as served:
        port = served.find_model().port
        was_listening = is_listening(port)
        served.product.process.kill()
        wait_until(lambda: None if is_listening(port) else True, within_s=30)

    assert was_listening


def test_a_server_that_ends_is_told_in_one_line(weights: Path, tmp_path: Path) -> None:
    with serve(tmp_path, weights, MODEL_AGENT_WINDOW="4096") as served:
        os.kill(served.find_model().pid, signal.SIGKILL)
        wait_until(lambda: "the model server ended" in served.log or None, within_s=30)
        is_healthy = httpx.get(f"{served.product.origin}/healthz").is_success

    [line] = [line for line in served.log.splitlines() if "the model server ended" in line]
    assert line.startswith("keepsake: the model server ended: it was killed, as happens where")
    assert is_healthy


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
