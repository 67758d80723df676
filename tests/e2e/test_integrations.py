"""Integrations: an app writes to a library and reads it at the started product (T17)."""

import httpx

from tests.e2e.product import run_product
from tests.e2e.waiting import wait_until

TEXT = "The Lisbon offsite moves to Friday.\n" + "We will take the early train.\n" * 20


def test_contributions_of_an_app_are_processed_found_and_attributed_to_it_t17(tmp_path):
    with run_product(tmp_path) as started_product, started_product.client("alice") as alice:
        app_id, key = install_app(alice)
        with httpx.Client(
            base_url=f"{started_product.origin}/v2/integrations/{app_id}",
            headers={"Authorization": f"Bearer {key}"},
            params={"uid": "alice"},
            timeout=30,
        ) as app:
            conversation_response = app.post("/user/conversations", json={"text": TEXT})
            memories_response = app.post(
                "/user/memories", json={"memories": [{"content": "Likes trains"}]}
            )

            wait_until(lambda: is_processed(alice))
            [item] = app.get("/conversations", params={"uid": "alice"}).json()["conversations"]
            search_result = app.post(
                "/search/conversations", json={"query": "Lisbon offsite"}
            ).json()
            tasks = app.get("/tasks")
        facts = alice.get("/v3/memories").json()

    assert (conversation_response.json(), memories_response.json()) == ({}, {})
    assert (item["source"], item["app_id"]) == ("external_integration", app_id)
    assert item["transcript_segments"][0]["speaker_name"] == "Notes (app)"
    assert [conversation["id"] for conversation in search_result["conversations"]] == [item["id"]]
    assert ("Likes trains", app_id) in [(fact["content"], fact["app_id"]) for fact in facts]
    assert tasks.json()["detail"] == "App does not have the capability to read tasks"


def install_app(alice: httpx.Client) -> tuple[str, str]:
    """Register an app that may do all but read tasks, and enable it; return its id and key."""
    actions = [
        {"action": action}
        for action in ("create_conversation", "create_facts", "read_memories", "read_conversations")
    ]
    body = {"name": "Notes", "external_integration": {"actions": actions}}
    app_id: str = alice.post("/v1/apps", json=body).json()["id"]
    alice.post("/v1/apps/enable", params={"app_id": app_id}).raise_for_status()
    return app_id, alice.post(f"/v1/apps/{app_id}/keys").json()["secret"]


def is_processed(alice: httpx.Client) -> bool | None:
    """Look as the owner does, since requests of apps count towards their limit."""
    conversations = alice.get("/v1/conversations").json()
    return [conversation["status"] for conversation in conversations] == ["completed"] or None
