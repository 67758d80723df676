"""Content of requests: it goes in bodies, and the query of released apps reaches no log (S7)."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.product import add_conversation, build_conversation_body, run_product

SECRET = "zanzibar"


@pytest.mark.parametrize("place", ["json", "params"])
def test_content_is_taken_from_body_and_query_and_is_in_no_log_s7(tmp_path: Path, place: str):
    with run_product(tmp_path) as product, product.client("alice") as alice:
        results = change_everything(alice, place)

    log = (tmp_path / "product.log").read_text()
    assert results == [SECRET] * 4
    assert "PATCH /v1/conversations/{conversation_id}/title" in log
    assert "/v2/integrations/{app_id}/notification" in log
    assert SECRET not in log


def change_everything(alice: httpx.Client, place: str) -> list[Any]:
    """Send content to every route that takes some in its query too; return what was stored."""
    add_conversation(alice, build_conversation_body("offsite", "The offsite moves to Friday."))
    alice.post("/v3/memories", json={"id": "fact", "content": "Likes trains"})
    alice.post("/v1/users/people", json={"id": "ann", "name": "Ann"})
    app_id = alice.post("/v1/apps", json={"name": "Weather"}).json()["id"]
    alice.post("/v1/apps/enable", params={"app_id": app_id})
    key = alice.post(f"/v1/apps/{app_id}/keys").json()["secret"]

    def send(method: str, path: str, content: dict[str, str], **headers: str) -> None:
        options: Any = {place: content}
        alice.request(method, path, headers=headers, **options).raise_for_status()

    send("PATCH", "/v1/conversations/offsite/title", {"title": SECRET})
    send("PATCH", "/v3/memories/fact", {"value": SECRET})
    send("PATCH", "/v1/users/people/ann/name", {"value": SECRET})
    message = {"uid": "alice", "message": SECRET}
    path = f"/v2/integrations/{app_id}/notification"
    send("POST", path, message, Authorization=f"Bearer {key}")
    return [
        alice.get("/v1/conversations/offsite").json()["structured"]["title"],
        alice.get("/v3/memories").json()[0]["content"],
        alice.get("/v1/users/people").json()[0]["name"],
        alice.get("/v1/inbox").json()["items"][0]["body"],
    ]
