"""Notes at the started product: an answer waits for none of them, and they come by themselves (M130)."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.product import build_model_environment, run_product
from tests.e2e.waiting import wait_until
from tests.servers.openai import Script, ScriptedOpenai, scripted_openai

FOLLOW_UP = "Compare the trains to Lisbon"
NOTES = {"title": "Trains", "tags": ["Lisbon"], "follow_ups": [FOLLOW_UP]}


@pytest.fixture
def model() -> Iterator[ScriptedOpenai]:
    with scripted_openai() as server:
        yield server


@pytest.fixture
def alice(tmp_path: Path, model: ScriptedOpenai) -> Iterator[httpx.Client]:
    with (
        run_product(tmp_path, **build_model_environment(model.url)) as product,
        product.client("alice") as http,
    ):
        yield http


def ask(http: httpx.Client, **chat: str) -> str:
    """Ask, read the whole answer, and return its id."""
    response = http.post("/v2/messages", json={"text": "Which trains go to Lisbon?"}, params=chat)
    assert "Four trains." in response.text
    return response.headers["x-run-id"]


def test_an_answer_ends_though_its_notes_fail_at_first_and_they_come_later_m130(
    alice: httpx.Client, model: ScriptedOpenai
) -> None:
    model.play(
        Script(text="Four trains."),
        Script(schema="notes", status=503),
        Script(schema="notes", text=json.dumps(NOTES), sticky=True),
    )
    answer_id = ask(alice, protocol="ui-message-stream")
    path = f"/v2/messages/{answer_id}/notes"

    notes = wait_until(lambda: alice.get(path).json() if alice.get(path).content else None)
    event = alice.get(f"{path}/events")

    assert (notes["follow_ups"], notes["chat"]["title"]) == ([FOLLOW_UP], "Trains")
    assert json.loads(event.text.removeprefix("data: ")) == notes


def test_an_incognito_answer_asks_the_model_for_nothing_else_m130(
    alice: httpx.Client, model: ScriptedOpenai
) -> None:
    model.play(Script(text="Four trains.", sticky=True), Script(schema="notes", text="{}"))
    begun = alice.post("/v2/chat-sessions", json={"storage_mode": "incognito"}).json()["id"]

    ask(alice, protocol="ui-message-stream", chat_session_id=begun)
    noted = ask(alice, protocol="ui-message-stream")
    wait_until(lambda: alice.get(f"/v2/messages/{noted}/notes").content or None)

    formats = [each.body["response_format"] for each in model.requests if each not in model.answers]
    names = [each["json_schema"]["name"] for each in formats]
    assert sorted(names) == ["notes", "reading", "reading"]
