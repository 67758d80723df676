"""Erasure at the started product: no file of the data folder keeps a word or an id of its owner."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.e2e.product import (
    add_conversation,
    ask,
    build_conversation_body,
    build_model_environment,
    post_notification,
    run_product,
)
from tests.e2e.waiting import wait_until
from tests.servers import run_server
from tests.servers.openai import Script, scripted_openai

UID = "zaphod-4711-beeblebrox"
ERASURE = "/v1/users/delete-account"
ROUTES = (
    ("GET", "/v1/conversations"),
    ("POST", "/v1/conversations"),
    ("GET", "/v3/memories"),
    ("POST", "/v3/memories"),
    ("GET", "/v1/action-items"),
    ("GET", "/v1/users/export"),
    ("GET", "/v2/messages"),
    ("POST", "/v2/messages"),
    ("GET", "/v2/chat-sessions"),
    ("GET", "/v1/apps"),
    ("POST", "/v1/apps"),
    ("GET", "/v1/connections"),
    ("GET", "/v1/mcp/keys"),
    ("GET", "/v1/dev/keys"),
    ("GET", "/v1/inbox"),
    ("DELETE", ERASURE),
)


@pytest.fixture(scope="module")
def manifest_origin() -> Iterator[str]:
    async def serve_manifest(_: Request) -> JSONResponse:
        chat_messages = {"enabled": True, "target": "main", "notify": True}
        return JSONResponse({"tools": [], "chat_messages": chat_messages})

    with run_server(Starlette(routes=[Route("/tools.json", serve_manifest)])) as origin:
        yield origin


def fill(client: httpx.Client, manifest_origin: str, uid: str, word: str) -> None:
    """Store something of every kind for a user, with `word` in all of it."""

    def post(path: str, **body: Any) -> Any:
        return client.post(path, json=body).raise_for_status().json()

    for n in range(12):
        lines = [f"The {word} number {n} sails to Ærø-{word} {m}." for m in range(40)]
        post("/v1/conversations", **build_conversation_body(f"{word}-{n}", *lines))
    lines = [f"I will call the {word} printer tomorrow.", f"My sister is called {word}."]
    add_conversation(client, build_conversation_body(f"{word}-last", *lines))
    post("/v3/memories", content=f"I own a {word}")
    post("/v1/action-items", description=f"Buy a {word}")
    post("/v1/users/people", name=f"Ford {word}")
    post("/v1/users/fcm-token", fcm_token=f"token-{word}", time_zone="UTC")
    post("/v1/mcp/keys", name=f"key {word}")
    post("/v1/dev/keys", name=f"key {word}")
    client.patch("/v1/users/profile", json={"name": f"Owner {word}"}).raise_for_status()
    post("/v1/users/developer/webhook/memory_created", url=f"https://{word}.example/hook")
    health = {"workouts": [{"name": word}]}
    client.put("/v1/integrations/apple-health/sync", json=health).raise_for_status()
    notify(client, manifest_origin, uid, word)
    review_apps_of_others(client, word)
    ask(client, f"What do you know about the {word}?")
    ask(client, f"Remind me to sell the {word} on Friday.")


def notify(client: httpx.Client, manifest_origin: str, uid: str, word: str) -> None:
    """Register and install an app, and let it post a notification."""
    manifest = {"chat_tools_manifest_url": f"{manifest_origin}/tools.json"}
    body: dict[str, Any] = {"name": f"App {word}", "external_integration": manifest}
    app_id = client.post("/v1/apps", json=body).raise_for_status().json()["id"]
    client.post("/v1/apps/enable", params={"app_id": app_id}).raise_for_status()
    secret = client.post(f"/v1/apps/{app_id}/keys").raise_for_status().json()["secret"]
    post_notification(client, app_id, secret, f"{word} is here", uid=uid).raise_for_status()


def review_apps_of_others(client: httpx.Client, word: str) -> None:
    for app in client.get("/v1/apps").raise_for_status().json():
        if app["uid"] is None:
            query = {"app_id": app["id"]}
            client.post("/v1/apps/enable", params=query).raise_for_status()
            body = {"score": 4, "review": f"Good for a {word}"}
            client.post("/v1/apps/review", params=query, json=body).raise_for_status()


def wait_for_erasure(client: httpx.Client) -> dict[str, Any]:
    def load_if_done() -> dict[str, Any] | None:
        erasure: dict[str, Any] = client.get(ERASURE).raise_for_status().json()
        return erasure if erasure["status"] == "done" else None

    return wait_until(load_if_done)


def find_traces(folder: Path, *texts: str) -> list[tuple[str, str]]:
    """List the files that hold one of the texts, in one of the forms that they may have."""
    forms = {
        text: {
            text.encode(),
            text.encode("utf-16-le"),
            text.encode("utf-16-be"),
            json.dumps(text)[1:-1].encode(),
        }
        for text in texts
    }
    contents = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert any(name.endswith("-wal") for name in contents), "the server still runs"
    return [
        (name, text)
        for name, content in contents.items()
        for text in texts
        if any(form.lower() in content.lower() for form in forms[text])
    ]


def test_no_file_keeps_a_word_or_an_id_once_an_erasure_is_done_s6(
    tmp_path: Path, manifest_origin: str
) -> None:
    folder = tmp_path / "data"
    settings = {"EGRESS_DEV_ORIGINS": manifest_origin}
    with run_product(tmp_path, **settings) as product, ExitStack() as clients:
        arthur, zaphod = (clients.enter_context(product.client(uid)) for uid in ("arthur", UID))
        fill(arthur, manifest_origin, "arthur", "teacup")
        fill(zaphod, manifest_origin, UID, "heliotrope")
        assert find_traces(folder, UID, "heliotrope", "Ærø-heliotrope")
        before = arthur.get("/v1/conversations").json()

        assert zaphod.delete(ERASURE).json()["status"] == "running"
        erasure = wait_for_erasure(zaphod)

        assert erasure["documents"] > 50
        assert find_traces(folder, UID, "heliotrope", "Ærø-heliotrope") == []
        assert find_traces(folder, "arthur", "teacup")
        assert arthur.get("/v1/conversations").json() == before


def test_tokens_from_before_an_erasure_are_refused_and_later_ones_begin_anew_s6(
    tmp_path: Path,
) -> None:
    with run_product(tmp_path) as started_product, ExitStack() as clients:
        before = clients.enter_context(started_product.client(UID))
        for _ in range(3):  # whichever part of a second the erasure ends in
            before.delete(ERASURE).raise_for_status()
            wait_for_erasure(before)

            after = clients.enter_context(started_product.client(UID))
            statuses = {before.request(*route, json={}).status_code for route in ROUTES}
            added = after.post("/v3/memories", json={"content": "New fact"})
            contents = [memory["content"] for memory in after.get("/v3/memories").json()]

            assert statuses == {401}
            assert added.is_success
            assert contents == ["New fact"]
            before = after


def test_a_killed_erasure_is_completed_by_the_next_start_s6(tmp_path: Path) -> None:
    with run_product(tmp_path) as started_product, started_product.client(UID) as zaphod:
        for n in range(30):
            body = build_conversation_body(f"talk-{n}", *["The heliotrope sails."] * 40)
            zaphod.post("/v1/conversations", json=body).raise_for_status()
        zaphod.delete(ERASURE).raise_for_status()
        started_product.process.kill()

    with run_product(tmp_path) as restarted_product:
        url, headers = restarted_product.origin, zaphod.headers
        with httpx.Client(base_url=url, headers=headers, timeout=30) as client:
            wait_for_erasure(client)
        assert find_traces(tmp_path / "data", UID, "heliotrope") == []


def test_work_under_way_writes_nothing_after_an_erasure_s6(tmp_path: Path) -> None:
    """An answer streams, and conversations wait for the model, while their owner is erased."""
    slow_script = Script(text='{"heliotrope": 1}', first_token_ms=6_000)
    with (
        scripted_openai(slow_script) as model,
        run_product(tmp_path, **build_model_environment(model.url)) as product,
        product.client(UID) as zaphod,
    ):
        for n in range(3):
            body = build_conversation_body(f"talk-{n}", *["The heliotrope sails."] * 60)
            zaphod.post("/v1/conversations", json=body).raise_for_status()
        model.play(Script(text="heliotrope " * 9, endless=True, token_ms=5))
        question = {"text": "Where does the heliotrope sail?"}
        with zaphod.stream("POST", "/v2/messages", json=question) as answer:
            next(frame for frame in answer.iter_raw() if b"heliotrope" in frame)
            wait_until(lambda: True if len(model.requests) > 3 else None)
            zaphod.delete(ERASURE).raise_for_status()
            wait_for_erasure(zaphod)
            assert find_traces(tmp_path / "data", UID, "heliotrope") == []
        assert all(request.ended.wait(20) for request in model.requests)
        wait_until(lambda: None if count_jobs(tmp_path / "data") else True)
        assert find_traces(tmp_path / "data", UID, "heliotrope") == []


def count_jobs(folder: Path) -> int:
    """Count what is due and not done: the sweep comes later."""
    with closing(sqlite3.connect(folder / "keepsake.db")) as database:
        sql = "SELECT count(*) FROM jobs WHERE ended IS NULL AND due < unixepoch() + 60"
        return int(database.execute(sql).fetchone()[0])
