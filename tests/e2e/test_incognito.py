"""Incognito chat on the running product: with its process, every word of it is gone (C68)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.product import build_model_environment, run_product
from tests.old_app import parse_as_fixed_app
from tests.servers.openai import Script, scripted_openai

WORD = "quokkasecret"
UI = "ui-message-stream"
CRISIS = f"I'm going to kill myself, said the {WORD}"


def list_files_with(folder: Path, word: str) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and word.encode() in path.read_bytes():
            yield path


def test_nothing_of_an_incognito_chat_outlives_its_process_c68(tmp_path: Path) -> None:
    questions = [f"Remember that I own a {WORD}", CRISIS, f"/remember I own a {WORD}", "/memories"]
    with run_product(tmp_path) as product, product.client("alice") as http:
        chat = http.post("/v2/chat-sessions", json={"storage_mode": "incognito"}).json()
        query = {"chat_session_id": chat["id"]}
        for text in questions:
            response = http.post("/v2/messages", json={"text": text}, params=query)
            assert parse_as_fixed_app([response.content]).done is not None
        kept = http.get("/v2/messages", params=query).json()
        product.process.kill()
        product.process.wait()

    assert WORD in str(kept)
    assert list(list_files_with(tmp_path, WORD)) == []
    with run_product(tmp_path) as product, product.client("alice") as http:
        assert http.get("/v2/messages", params=query).status_code == 404
        assert chat["id"] not in str(http.get("/v2/chat-sessions").json())
        assert http.get("/v2/arcs").json()["items"] == http.get("/v3/memories").json() == []


@pytest.mark.parametrize(
    ("mode", "title"), [("incognito", 200), ("client_encrypted", 422), ("managed", 200)]
)
def test_whatever_is_done_in_a_private_chat_nothing_is_stored_in_clear_c68_m82(
    tmp_path: Path, mode: str, title: int
) -> None:
    """A sealed chat has its title from its client; in a managed one the word is found this way."""
    mail, answer = f"{WORD}@mail.example", Script(text=f"The {WORD} sleeps. ")
    with (
        scripted_openai(answer) as model,
        run_product(tmp_path, **build_model_environment(model.url)) as product,
        product.client("alice") as http,
    ):
        chat = http.post("/v2/chat-sessions", json={"storage_mode": mode}).json()
        path, query = f"/v2/chat-sessions/{chat['id']}", {"chat_session_id": chat["id"]}
        asked = http.post(
            "/v2/messages",
            json={"text": f"Write to {mail}", "client_message_id": WORD},
            params=query,
        )
        run = asked.headers["x-run-id"]
        renamed = http.patch(path, json={"title": WORD, "starred": True})
        voices = {"text": f"Compare the {WORD}", "models": ["fast", "agent"]}
        done = [
            http.post("/v2/messages", json=voices, params={**query, "protocol": UI}),
            http.post(f"/v2/messages/{run}/versions", json={}),
            http.post(f"/v2/messages/{run}-q/versions", json={"text": f"Feed the {WORD}"}),
            http.post(f"/v2/messages/{run}/report"),
            http.post(f"{path}/feedback", json={"rating": "positive"}),
            http.get("/v1/chats/search", params={"query": WORD}),
            http.post(f"{path}/end"),
        ]
        exported = http.get("/v1/users/export").text
        product.process.kill()
        product.process.wait()

    statuses = {
        f"{response.request.method} {response.url.path}": response.status_code for response in done
    }
    assert {*statuses.values()} == {200}, statuses
    assert renamed.status_code == title
    is_stored = mode == "managed"
    assert (WORD in exported, any(list_files_with(tmp_path, WORD))) == (is_stored, is_stored)


def test_two_devices_share_one_incognito_chat_c68(tmp_path: Path) -> None:
    with (
        run_product(tmp_path) as product,
        product.client("alice") as phone,
        product.client("alice") as tablet,
        product.client("eve") as stranger,
    ):
        chat = phone.post("/v2/chat-sessions", json={"storage_mode": "incognito"}).json()
        query = {"chat_session_id": chat["id"]}
        for device in (phone, tablet):
            device.post("/v2/messages", json={"text": "Hello"}, params=query).raise_for_status()
        seen = [device.get("/v2/messages", params=query).json() for device in (phone, tablet)]
        foreign = stranger.get("/v2/messages", params=query).status_code

    assert len(seen[0]) == 4
    assert seen[0] == seen[1]
    assert foreign == 404
