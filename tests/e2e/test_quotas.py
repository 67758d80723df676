"""Quotas and retention at the started product (S5, P25, P34)."""

from pathlib import Path

from tests.e2e.product import add_conversation, ask, build_conversation_body, run_product
from tests.e2e.waiting import wait_until

SENTENCE = "The harbour is lovely in spring."


def test_a_quota_answer_is_listed_with_its_question_after_a_restart_p25(tmp_path: Path) -> None:
    with run_product(tmp_path, QUOTA_TURNS="1") as product, product.client("alice") as alice:
        ask(alice, "Hello")
    with run_product(tmp_path, QUOTA_TURNS="1") as product, product.client("alice") as alice:
        refusal = ask(alice, "And now?")
        listed = alice.get("/v2/messages").json()
        usage = alice.get("/v1/users/me/usage").json()["quotas"]

    assert refusal.text == "You used up today's 1 questions. It continues at 00:00 UTC."
    assert [message["text"] for message in listed[:2]] == [refusal.text, "And now?"]
    assert {quota["name"]: quota["used"] for quota in usage}["turns"] == 1


def test_a_chosen_retention_deletes_the_text_of_old_conversations_p34(tmp_path: Path) -> None:
    with run_product(tmp_path) as product, product.client("alice") as alice:
        body = build_conversation_body("harbour", SENTENCE)
        add_conversation(alice, {**body, "started_at": "2020-03-02T09:00:00Z",
                                 "finished_at": "2020-03-02T09:30:00Z"})  # fmt: skip
        title = alice.get("/v1/conversations/harbour").json()["structured"]["title"]
        alice.patch("/v1/users/profile", json={"retention_days": 30})

        def read_without_text() -> dict[str, object] | None:
            conversation: dict[str, object] = alice.get("/v1/conversations/harbour").json()
            return None if conversation["transcript_segments"] else conversation

        conversation = wait_until(read_without_text)

    structured = conversation["structured"]
    assert isinstance(structured, dict)
    assert (conversation["status"], structured["title"]) == ("completed", title)
