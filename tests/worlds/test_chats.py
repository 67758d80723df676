"""Several chats in the product as a person uses them (P15, P16, C72)."""

from pathlib import Path
from typing import Any

import httpx

from tests.old_app import fixed_parser
from tests.worlds.product import conversation, keep, product
from tests.worlds.waiting import wait_until

SESSIONS = "/v2/chat-sessions"


def ask_in(http: httpx.Client, text: str, **chat: str) -> str:
    """Ask in a chat and return the answer."""
    answer = http.post("/v2/messages", json={"text": text}, params=chat)
    return fixed_parser([answer.content]).text


def titled(http: httpx.Client, session_id: str) -> dict[str, Any]:
    """Wait until a chat has a title, and return it."""

    def there() -> dict[str, Any] | None:
        found: dict[str, Any] = http.get(f"{SESSIONS}/{session_id}").json()
        return found if found["title"] != "New Chat" else None

    return wait_until(there)


def test_p16_chats_get_their_titles_and_stand_as_they_were_after_a_restart(tmp_path: Path) -> None:
    with product(tmp_path) as first, first.client("alice") as http:
        keep(http, conversation("offsite", "The Lisbon offsite moves to Friday."))
        work = http.post(SESSIONS, json={}).json()["id"]
        ask_in(http, "When is the Lisbon offsite?")
        ask_in(http, "Hi, please tell me what moves to Friday.", chat_session_id=work)
        titles = [titled(http, name)["title"] for name in ("main", work)]
        http.patch(f"{SESSIONS}/{work}", json={"starred": True})
        before = http.get(SESSIONS).json()
    with product(tmp_path) as second, second.client("alice") as http:
        after = http.get(SESSIONS).json()
        again = ask_in(http, "When is the Lisbon offsite?", chat_session_id=work)
        messages = http.get("/v2/messages", params={"chat_session_id": work}).json()

    assert titles == ["When is the Lisbon offsite?", "Tell me what moves to Friday"]
    assert before == after
    assert [(chat["id"], chat["starred"]) for chat in after] == [(work, True), ("main", False)]
    assert "Friday" in again
    assert len(messages) == 4
