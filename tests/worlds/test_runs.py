"""Answers in progress at real processes: killed, told to go, stopped, resumed (P29, X34, X36)."""

import json
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from infra.emulators.process import free_port, started
from infra.local.routing import ROOT
from shared.adapters.local_identity import LocalIdentity, read_secret
from tests.old_app import fixed_parser
from tests.servers import running
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai, scripted_openai
from tests.worlds.product import product, with_model
from tests.worlds.waiting import wait_until

LIMIT_S = 30
STALLS = Script(text="The offsite is on Friday, I think", stall_after=4)
ENDLESS = Script(text="On and on. ", endless=True, token_ms=20)
HANGS = {
    "tools": [
        {
            "name": "hang",
            "description": "Never comes back",
            "endpoint": "/hang",
            "method": "POST",
            "parameters": {"properties": {}, "required": []},
            "auth_required": False,
            "status_message": "Hanging",
        }
    ]
}


@pytest.fixture
def model() -> Iterator[ScriptedOpenai]:
    with scripted_openai() as server:
        yield server


@contextmanager
def asked(http: httpx.Client) -> Iterator[httpx.Response]:
    """Ask, and yield the answer while it streams."""
    with http.stream("POST", "/v2/messages", json={"text": "When?"}) as answer:
        yield answer


def batches(folder: Path) -> int:
    with sqlite3.connect(folder / "data/keepsake.db") as database:
        like = ("%/batches",)
        sql = "SELECT count(*) FROM documents WHERE collection LIKE ?"
        return int(database.execute(sql, like).fetchone()[0])


def test_p29_a_process_that_is_killed_loses_no_more_than_half_a_second(
    tmp_path: Path, model: ScriptedOpenai
) -> None:
    model.play(STALLS)
    with (
        product(tmp_path, **with_model(model.url)) as first,
        first.client("alice") as http,
        asked(http) as answer,
    ):
        run_id = answer.headers["x-run-id"]
        next(frame for frame in answer.iter_raw() if b"is" in frame)
        wait_until(lambda: batches(tmp_path) or None)
        first.process.kill()
    with product(tmp_path) as second, second.client("alice") as http:
        resumed = http.get(f"/v2/messages/{run_id}/stream")
        kept, question, *_ = http.get("/v2/messages").json()

    assert question["text"] == "When?"
    assert kept["text"].startswith("The offsite is")
    assert (kept["id"], kept["metadata"]["outcome"]) == (run_id, "interrupted")
    assert resumed.text.count("data: [DONE]") == 1
    assert kept["text"] in resumed.text


def test_x34_stopping_closes_the_models_stream(tmp_path: Path, model: ScriptedOpenai) -> None:
    model.play(ENDLESS)
    with product(tmp_path, **with_model(model.url)) as started_, started_.client("alice") as http:
        with asked(http) as answer:
            frames = answer.iter_raw()
            said = [next(frame for frame in frames if frame.startswith(b"data: "))]
            stopped = http.post(f"/v2/messages/{answer.headers['x-run-id']}/stop")
            said += list(frames)
        kept = http.get("/v2/messages").json()[0]

    shown = fixed_parser(said)
    assert stopped.status_code == 202
    assert model.requests[0].ended.wait(2), "the upstream stream is closed within two seconds"
    assert model.requests[0].closed_early
    assert shown.done == kept
    assert kept["text"] == shown.text
    assert kept["metadata"]["stop_reason"] == "user_cancelled"


def test_x34_stopping_ends_a_tool_that_hangs(tmp_path: Path, model: ScriptedOpenai) -> None:
    with (
        running(sleepy()) as url,
        product(tmp_path, **with_model(model.url), EGRESS_DEV_ORIGINS=url) as started_,
        started_.client("alice") as http,
    ):
        install(http, url)
        http.post("/v2/messages", json={"text": "What can you do?"})
        offered = [tool["function"]["name"] for tool in model.requests[-1].body["tools"]]
        model.play(Script(tool_calls=(ScriptedCall(name=offered[-1]),)))
        with asked(http) as answer:
            frames = answer.iter_raw()
            next(frame for frame in frames if frame.startswith(b"think: Hanging"))
            http.post(f"/v2/messages/{answer.headers['x-run-id']}/stop")
            shown = fixed_parser(list(frames))

    assert shown.done is not None
    assert shown.done["metadata"]["outcome"] == "stopped"


def sleepy() -> Starlette:
    """Serve an app whose tool never answers."""

    async def manifest(_: Request) -> JSONResponse:
        return JSONResponse(HANGS)

    async def hang(_: Request) -> JSONResponse:
        await anyio.sleep_forever()
        raise AssertionError

    return Starlette(
        routes=[
            Route("/.well-known/omi-tools.json", manifest),
            Route("/hang", hang, methods=["POST"]),
        ]
    )


def install(http: httpx.Client, url: str) -> None:
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


def test_a_function_that_is_told_to_go_keeps_what_it_was_saying(
    tmp_path: Path, model: ScriptedOpenai
) -> None:
    """As deployed: functions-framework behind gunicorn, and SIGTERM as Cloud Run sends it."""
    model.play(STALLS)
    port = free_port()
    data = tmp_path / "data"
    settings = {"PYTHONPATH": ".", "DATA_DIR": str(data), **with_model(model.url)}
    command = [
        *("env", *(f"{name}={value}" for name, value in settings.items())),
        *(sys.executable, "-W", "ignore", "-m", "functions_framework", "--target", "chat"),
        *("--source", "functions/chat/main.py", "--host", "127.0.0.1", "--port", str(port)),
    ]
    token = LocalIdentity(read_secret(data)).issue("alice")
    with (
        started(command, port=port, log=tmp_path / "chat.log", cwd=ROOT) as process,
        httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=LIMIT_S,
        ) as http,
    ):
        with asked(http) as answer:
            frames = answer.iter_raw()
            said = [next(frame for frame in frames if b"is" in frame)]
            process.send_signal(signal.SIGTERM)
            said += list(frames)
        process.wait(LIMIT_S)

    shown = fixed_parser(said)
    assert shown.done is not None
    assert shown.done["text"].startswith("The offsite is")
    assert shown.done["metadata"]["outcome"] == "interrupted"
    assert model.requests[0].ended.wait(LIMIT_S)


def test_x36_a_client_that_lost_its_stream_resumes_while_the_answer_goes_on(
    tmp_path: Path, model: ScriptedOpenai
) -> None:
    model.play(Script(tokens=60, token_ms=20))
    with product(tmp_path, **with_model(model.url)) as started_, started_.client("alice") as http:
        with asked(http) as answer:
            run_id = answer.headers["x-run-id"]
            next(answer.iter_raw())
        path = f"/v2/messages/{run_id}/stream"
        resumed = http.get(path).text
        again = http.get(path).text
        kept = http.get("/v2/messages").json()[0]

    assert deltas(resumed) == deltas(again) == kept["text"]
    assert kept["metadata"]["outcome"] == "completed"


def deltas(stream: str) -> str:
    chunks = [line[6:] for line in stream.split("\n") if line.startswith("data: {")]
    return "".join(json.loads(chunk).get("delta", "") for chunk in chunks)
