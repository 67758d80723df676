"""Answers in progress at real processes: killed, terminated, stopped, resumed (P29, X34, X36)."""

import json
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from infra.emulators.process import find_free_port, run_process
from infra.local.routing import ROOT
from shared.adapters.embedded.local_identity import LocalIdentity, read_secret
from tests.e2e.product import build_model_environment, run_product
from tests.e2e.waiting import wait_until
from tests.infra.terraform.stack import build_command
from tests.old_app import parse_as_fixed_app
from tests.servers import run_server
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai, scripted_openai

EXIT_TIMEOUT_S = 30
STALLING_SCRIPT = Script(text="The offsite is on Friday, I think", stall_after=4)
ENDLESS_SCRIPT = Script(text="On and on. ", endless=True, token_ms=20)
HANGING_MANIFEST = {
    "tools": [
        {
            "name": "hang",
            "description": "Never comes back",
            "endpoint": "/hang",
            "method": "POST",
            "parameters": {"properties": {}, "required": []},
            "auth_required": False,
            "read_only": True,
            "status_message": "Hanging",
        }
    ]
}


@pytest.fixture
def model() -> Iterator[ScriptedOpenai]:
    with scripted_openai() as server:
        yield server


@contextmanager
def stream_answer(http: httpx.Client) -> Iterator[httpx.Response]:
    """Ask, and yield the answer while it streams."""
    with http.stream("POST", "/v2/messages", json={"text": "When?"}) as answer:
        yield answer


def count_batches(folder: Path) -> int:
    with sqlite3.connect(folder / "data/keepsake.db") as database:
        like = ("%/batches",)
        sql = "SELECT count(*) FROM documents WHERE collection LIKE ?"
        return int(database.execute(sql, like).fetchone()[0])


def test_a_killed_process_loses_at_most_half_a_second_p29(
    tmp_path: Path, model: ScriptedOpenai
) -> None:
    model.play(STALLING_SCRIPT)
    with (
        run_product(tmp_path, **build_model_environment(model.url)) as first,
        first.client("alice") as http,
        stream_answer(http) as answer,
    ):
        run_id = answer.headers["x-run-id"]
        next(frame for frame in answer.iter_raw() if b"is" in frame)
        wait_until(lambda: count_batches(tmp_path) or None)
        first.process.kill()
    with run_product(tmp_path) as second, second.client("alice") as http:
        resumed = http.get(f"/v2/messages/{run_id}/stream")
        stored_answer, question, *_ = http.get("/v2/messages").json()

    assert question["text"] == "When?"
    assert stored_answer["text"].startswith("The offsite is")
    assert (stored_answer["id"], stored_answer["metadata"]["outcome"]) == (run_id, "interrupted")
    assert resumed.text.count("data: [DONE]") == 1
    assert stored_answer["text"] in resumed.text


def test_stopping_closes_the_models_stream_x34(tmp_path: Path, model: ScriptedOpenai) -> None:
    model.play(ENDLESS_SCRIPT)
    with (
        run_product(tmp_path, **build_model_environment(model.url)) as started_product,
        started_product.client("alice") as http,
    ):
        with stream_answer(http) as answer:
            frames = answer.iter_raw()
            received = [next(frame for frame in frames if frame.startswith(b"data: "))]
            stopped = http.post(f"/v2/messages/{answer.headers['x-run-id']}/stop")
            received += list(frames)
        stored = http.get("/v2/messages").json()[0]

    rendered = parse_as_fixed_app(received)
    assert stopped.status_code == 202
    assert model.answers[0].ended.wait(2), "the upstream stream is closed within two seconds"
    assert model.answers[0].closed_early
    assert rendered.done == stored
    assert stored["text"] == rendered.text
    assert stored["metadata"]["stop_reason"] == "user_cancelled"


def test_stopping_ends_a_tool_that_hangs_x34(tmp_path: Path, model: ScriptedOpenai) -> None:
    with (
        run_server(build_hanging_app()) as url,
        run_product(
            tmp_path, **build_model_environment(model.url), EGRESS_DEV_ORIGINS=url
        ) as started_product,
        started_product.client("alice") as http,
    ):
        install_app(http, url)
        http.post("/v2/messages", json={"text": "What can you do?"})
        offered = [tool["function"]["name"] for tool in model.answers[-1].body["tools"]]
        model.play(Script(tool_calls=(ScriptedCall(name=offered[-1]),)))
        with stream_answer(http) as answer:
            frames = answer.iter_raw()
            next(frame for frame in frames if frame.startswith(b"think: Hanging"))
            http.post(f"/v2/messages/{answer.headers['x-run-id']}/stop")
            rendered = parse_as_fixed_app(list(frames))

    assert rendered.done is not None
    assert rendered.done["metadata"]["outcome"] == "stopped"


def build_hanging_app() -> Starlette:
    """Serve an app whose tool never answers."""

    async def manifest(_: Request) -> JSONResponse:
        return JSONResponse(HANGING_MANIFEST)

    async def hang(_: Request) -> JSONResponse:
        await anyio.sleep_forever()
        raise AssertionError

    return Starlette(
        routes=[
            Route("/.well-known/omi-tools.json", manifest),
            Route("/hang", hang, methods=["POST"]),
        ]
    )


def install_app(http: httpx.Client, url: str) -> None:
    integration = {
        "app_home_url": url,
        "chat_tools_manifest_url": f"{url}/.well-known/omi-tools.json",
    }
    body = {
        "name": "Sleepy",
        "description": "Never comes back",
        "capabilities": ["external_integration"],
        "external_integration": integration,
    }
    app_id = http.post("/v1/apps", json=body).json()["id"]
    assert http.post("/v1/apps/enable", params={"app_id": app_id}).is_success


def build_source_command(port: int) -> list[str]:
    """Build the command of a function deployed from source: gunicorn, which forks once it has loaded."""
    framework = (sys.executable, "-W", "ignore", "-m", "functions_framework")
    return [*framework, "--asgi", "--host", "127.0.0.1", "--port", str(port)]


@pytest.mark.parametrize("build", [build_command, build_source_command])
def test_a_function_stores_its_partial_answer_on_sigterm(
    tmp_path: Path, model: ScriptedOpenai, build: Callable[[int], list[str]]
) -> None:
    """As deployed by an image and from source, and SIGTERM as Cloud Run sends it."""
    model.play(STALLING_SCRIPT)
    port = find_free_port()
    data = tmp_path / "data"
    settings = {
        "PYTHONPATH": ".",
        "DATA_DIR": str(data),
        "FUNCTION_TARGET": "chat",
        "FUNCTION_SOURCE": "functions/chat/main.py",
        **build_model_environment(model.url),
    }
    command = ["env", *(f"{name}={value}" for name, value in settings.items())]
    command += build(port)
    token = LocalIdentity(read_secret(data)).issue("alice")
    with (
        run_process(command, port=port, log=tmp_path / "chat.log", cwd=ROOT) as process,
        httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=EXIT_TIMEOUT_S,
        ) as http,
    ):
        with stream_answer(http) as answer:
            frames = answer.iter_raw()
            received = [next(frame for frame in frames if b"is" in frame)]
            process.send_signal(signal.SIGTERM)
            received += list(frames)
        process.wait(EXIT_TIMEOUT_S)

    rendered = parse_as_fixed_app(received)
    assert rendered.done is not None
    assert rendered.done["text"].startswith("The offsite is")
    assert rendered.done["metadata"]["outcome"] == "interrupted"
    assert model.answers[0].ended.wait(EXIT_TIMEOUT_S)


def test_a_disconnected_client_resumes_an_answer_in_progress_x36(
    tmp_path: Path, model: ScriptedOpenai
) -> None:
    model.play(Script(tokens=60, token_ms=20))
    with (
        run_product(tmp_path, **build_model_environment(model.url)) as started_product,
        started_product.client("alice") as http,
    ):
        with stream_answer(http) as answer:
            run_id = answer.headers["x-run-id"]
            next(answer.iter_raw())
        path = f"/v2/messages/{run_id}/stream"
        resumed = http.get(path).text
        again = http.get(path).text
        stored = http.get("/v2/messages").json()[0]

    assert join_deltas(resumed) == join_deltas(again) == stored["text"]
    assert stored["metadata"]["outcome"] == "completed"


def join_deltas(stream: str) -> str:
    chunks = [line[6:] for line in stream.split("\n") if line.startswith("data: {")]
    return "".join(json.loads(chunk).get("delta", "") for chunk in chunks)
