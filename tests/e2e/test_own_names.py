"""Own names on the whole product: what was kept before follows them, behind the answer."""

from pathlib import Path
from typing import Any

import httpx

from functions.process_conversation.upkeep.renew_texts import STEP_SIZE
from tests.e2e.product import run_product
from tests.e2e.waiting import wait_until

LINES = [
    ("Ann", "I will bring the ladder on Friday."),
    ("Tom", "I need to book the ferry. I'm allergic to walnuts."),
]


def keep_talks(http: httpx.Client, count: int) -> None:
    for number in range(count):
        body: dict[str, Any] = {
            "id": f"talk{number}",
            "started_at": f"2026-03-02T10:{number:02}:00Z",
            "finished_at": f"2026-03-02T10:{number:02}:30Z",
            "transcript_segments": [{"text": text, "speaker": who} for who, text in LINES],
        }
        assert http.post("/v1/conversations", json=body).status_code == 202


def list_own_tasks(http: httpx.Client) -> list[str]:
    items = http.get("/v1/action-items").json()["action_items"]
    return sorted({item["description"] for item in items})


def test_stored_conversations_follow_the_names_of_their_owner(tmp_path: Path) -> None:
    with run_product(tmp_path) as product, product.client("tom") as http:
        keep_talks(http, STEP_SIZE)  # the next ones follow a minute later
        wait_until(lambda: http.get("/v1/action-items?owner=others").json()["action_items"] or None)
        before = list_own_tasks(http)

        http.patch("/v1/users/profile", json={"own_names": ["Tom"]})
        wait_until(lambda: list_own_tasks(http) or None)
        wait_until(lambda: http.get("/v3/memories").json() or None)
        mine = list_own_tasks(http)
        http.patch("/v1/users/profile", json={"own_names": []})
        wait_until(lambda: None if list_own_tasks(http) else True, within_s=150)  # the next step
        wait_until(lambda: None if http.get("/v3/memories").json() else True)

    assert before == []
    assert mine == ["Book the ferry"]
