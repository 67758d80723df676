"""The sample library: loaded and removed by one request each, and the first questions about it."""

import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from infra.local.routing import ROOT
from tests.e2e.first_questions import TUNED, UNSEEN, UNTUNED, VARIED, is_right
from tests.e2e.product import (
    Product,
    add_conversation,
    ask,
    build_conversation_body,
    run_product,
)
from tests.e2e.waiting import wait_until
from tests.local_key import build_command_environment


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with run_product(tmp_path_factory.mktemp("sample")) as running:
        yield running


@pytest.fixture
def http(product: Product, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    """Sign in as a user of this test alone."""
    with product.client(request.node.name[:40]) as client:
        yield client


@pytest.fixture(scope="module")
def loaded(product: Product) -> Iterator[httpx.Client]:
    """Sign in as the user whose sample library many questions are asked of."""
    with product.client("asker") as client:
        load_sample(client)
        yield client


def load_sample(http: httpx.Client) -> None:
    assert http.post("/v1/sample-library").status_code == 202
    wait_until(lambda: all(c["status"] == "completed" for c in list_all(http)) or None)


def list_all(http: httpx.Client) -> list[dict[str, str]]:
    page = http.get("/v1/conversations?limit=100").json()
    items: list[dict[str, str]] = page["items"] if isinstance(page, dict) else page
    return items


def list_wrong(http: httpx.Client, questions: tuple) -> list[str]:  # type: ignore[type-arg]
    """Ask in a chat of its own, and return what was answered wrongly."""
    chat = http.post("/v2/chat-sessions", json={}).json()["id"]
    answers = [(q, ask(http, q, chat_session_id=chat).text, checks) for q, checks in questions]
    return [question for question, text, checks in answers if not is_right(text, checks)]


def test_twenty_first_questions_are_answered_offline_u4(loaded):
    wrong = list_wrong(loaded, TUNED)

    assert len(wrong) <= 2, wrong


def test_other_wordings_are_answered_offline(loaded):
    wrong = list_wrong(loaded, UNTUNED)

    assert len(wrong) <= 6, wrong


def test_questions_in_varied_words_are_answered_offline(loaded):
    wrong = list_wrong(loaded, VARIED)

    assert len(wrong) <= 3, wrong


def test_questions_that_no_rule_was_made_for_are_mostly_answered_offline(loaded):
    wrong = list_wrong(loaded, UNSEEN)

    assert len(wrong) <= 5, wrong


def test_loading_twice_doubles_nothing_and_removal_leaves_what_is_the_owners(http):
    own = add_conversation(
        http,
        build_conversation_body(
            "mine",
            "The garden gate at Elm Street is painted blue, and the builder comes on Friday at nine.",
        ),
    )
    load_sample(http)
    count = len(list_all(http))

    load_sample(http)
    assert len(list_all(http)) == count == 30

    assert [http.delete("/v1/sample-library").status_code for _ in range(2)] == [204, 204]
    assert [c["id"] for c in list_all(http)] == [own["id"]]
    wait_until(lambda: http.get("/v3/memories").json() == [] or None)
    wait_until(lambda: list_tasks(http) == [] or None)
    assert "I found nothing" in ask(http, "Who is Viktor?").text


def list_tasks(http: httpx.Client) -> list[dict[str, str]]:
    tasks: list[dict[str, str]] = http.get("/v1/action-items").json()["action_items"]
    return tasks


def test_suggested_questions_have_answers_and_an_empty_library_says_what_to_do_first(http):
    empty = http.get("/v1/suggested-questions").json()
    assert empty["questions"] == []
    assert "sample library" in empty["hint"]
    german = http.get("/v1/suggested-questions", headers={"Accept-Language": "de"}).json()
    assert german["hint"].startswith("Deine Bibliothek ist leer.")

    load_sample(http)
    suggested = http.get("/v1/suggested-questions").json()

    assert len(suggested["questions"]) >= 4
    for question in suggested["questions"]:
        assert "found nothing" not in ask(http, question).text, question


def test_what_the_owner_asks_to_remember_is_stored_and_can_be_undone(http):
    ask(http, "Remember that I like green tea")

    assert [m["content"] for m in http.get("/v3/memories").json()] == ["I like green tea"]
    (answer, *_) = http.get("/v2/messages").json()
    (change,) = answer["metadata"]["changes"]
    undo = f"/v1/messages/{answer['id']}/changes/{change['id']}/undo"
    assert [http.post(undo).status_code for _ in range(2)] == [200, 200]
    assert http.get("/v3/memories").json() == []


def test_make_sample_loads_and_removes_it(product, http):
    def run(*options: str) -> str:
        command = [sys.executable, "-m", "infra.local.sample"]
        command += ["--origin", product.origin, "--uid", uid]
        environment = build_command_environment()
        return subprocess.run(
            [*command, *options],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    uid = "test_make_sample_loads_and_removes_it"

    assert "29 invented conversations" in run()
    assert len(list_all(http)) == 29
    assert "are gone" in run("--remove")
    assert list_all(http) == []
