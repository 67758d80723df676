"""Own names on the whole product: what was kept before follows them, behind the answer."""

from pathlib import Path
from typing import Any

import httpx

from tests.e2e.product import run_product
from tests.e2e.waiting import wait_until

LINES = [
    ("Ann", "I will bring the ladder on Friday."),
    ("Tom", "I need to book the ferry. I'm allergic to walnuts."),
]
TALKS = 3


def keep_talks(http: httpx.Client, count: int) -> None:
    for number in range(count):
        body: dict[str, Any] = {
            "id": f"talk{number}",
            "started_at": f"2026-03-02T10:{number:02}:00Z",
            "finished_at": f"2026-03-02T10:{number:02}:30Z",
            "transcript_segments": [{"text": text, "speaker": who} for who, text in LINES],
        }
        assert http.post("/v1/conversations", json=body).status_code == 202


def is_read(http: httpx.Client) -> bool:
    """Tell whether no talk waits for its reading: another change then meets none under way."""
    return {talk["status"] for talk in http.get("/v1/conversations").json()} == {"completed"}


def list_own_tasks(http: httpx.Client) -> list[str]:
    items = http.get("/v1/action-items").json()["action_items"]
    return sorted({item["description"] for item in items})


def test_stored_conversations_follow_the_names_of_their_owner(tmp_path: Path) -> None:
    with run_product(tmp_path) as product, product.client("tom") as http:
        keep_talks(http, TALKS)
        wait_until(lambda: http.get("/v1/action-items?owner=others").json()["action_items"] or None)
        wait_until(lambda: is_read(http) or None)
        before = list_own_tasks(http)

        http.patch("/v1/users/profile", json={"own_names": ["Tom"]})
        wait_until(lambda: list_own_tasks(http) or None)
        wait_until(lambda: http.get("/v3/memories").json() or None)
        wait_until(lambda: is_read(http) or None)
        mine = list_own_tasks(http)
        http.patch("/v1/users/profile", json={"own_names": []})
        wait_until(lambda: None if list_own_tasks(http) else True)
        wait_until(lambda: None if http.get("/v3/memories").json() else True)

    assert before == []
    assert mine == ["Book the ferry"]
