"""T17: an app writes into a library and reads of it, at the started product."""

import httpx

from tests.worlds.product import product
from tests.worlds.waiting import wait_until

TEXT = "The Lisbon offsite moves to Friday.\n" + "We will take the early train.\n" * 20


def test_t17_what_an_app_hands_in_is_processed_found_and_labelled_as_its_own(tmp_path):
    with product(tmp_path) as started, started.client("alice") as alice:
        app_id, key = install(alice)
        with httpx.Client(
            base_url=f"{started.origin}/v2/integrations/{app_id}",
            headers={"Authorization": f"Bearer {key}"},
            params={"uid": "alice"},
        ) as app:
            handed_in = app.post("/user/conversations", json={"text": TEXT})
            told = app.post("/user/memories", json={"memories": [{"content": "Likes trains"}]})

            wait_until(lambda: is_processed(alice))
            [item] = app.get("/conversations", params={"uid": "alice"}).json()["conversations"]
            found = app.post("/search/conversations", json={"query": "Lisbon offsite"}).json()
            tasks = app.get("/tasks")
        facts = alice.get("/v3/memories").json()

    assert (handed_in.json(), told.json()) == ({}, {})
    assert (item["source"], item["app_id"]) == ("external_integration", app_id)
    assert item["transcript_segments"][0]["speaker"] == "Notes (app)"
    assert [one["id"] for one in found["conversations"]] == [item["id"]]
    assert ("Likes trains", app_id) in [(fact["content"], fact["app_id"]) for fact in facts]
    assert tasks.json()["detail"] == "App does not have the capability to read tasks"


def install(alice: httpx.Client) -> tuple[str, str]:
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
    """Look as the owner does: apps are counted."""
    found = alice.get("/v1/conversations").json()["conversations"]
    return [one["status"] for one in found] == ["completed"] or None
