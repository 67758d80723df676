"""Several chats at the started product (P15, P16, C72)."""

from pathlib import Path
from typing import Any

import httpx

from tests.e2e.product import add_conversation, build_conversation_body, run_product
from tests.e2e.waiting import wait_until
from tests.old_app import parse_as_fixed_app

SESSIONS = "/v2/chat-sessions"


def ask_in(http: httpx.Client, text: str, **chat: str) -> str:
    """Ask in a chat and return the answer."""
    answer = http.post("/v2/messages", json={"text": text}, params=chat)
    return parse_as_fixed_app([answer.content]).text


def wait_for_title(http: httpx.Client, session_id: str) -> dict[str, Any]:
    """Wait until a chat has a title, and return it."""

    def load_if_titled() -> dict[str, Any] | None:
        session: dict[str, Any] = http.get(f"{SESSIONS}/{session_id}").json()
        return session if session["title"] != "New Chat" else None

    return wait_until(load_if_titled)


def test_chats_get_titles_and_are_unchanged_after_a_restart_p16(tmp_path: Path) -> None:
    with run_product(tmp_path) as first, first.client("alice") as http:
        add_conversation(
            http, build_conversation_body("offsite", "The Lisbon offsite moves to Friday.")
        )
        work = http.post(SESSIONS, json={}).json()["id"]
        ask_in(http, "When is the Lisbon offsite?")
        ask_in(http, "Hi, please tell me what moves to Friday.", chat_session_id=work)
        titles = [wait_for_title(http, name)["title"] for name in ("main", work)]
        http.patch(f"{SESSIONS}/{work}", json={"starred": True})
        before = http.get(SESSIONS).json()
    with run_product(tmp_path) as second, second.client("alice") as http:
        after = http.get(SESSIONS).json()
        again = ask_in(http, "When is the Lisbon offsite?", chat_session_id=work)
        messages = http.get("/v2/messages", params={"chat_session_id": work}).json()

    assert titles == ["When is the Lisbon offsite?", "Hi, please tell me what moves to Friday."]
    assert before == after
    assert [(chat["id"], chat["starred"]) for chat in after] == [(work, True), ("main", False)]
    assert "Friday" in again
    assert len(messages) == 4
