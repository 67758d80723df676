"""The sample library: loaded and removed by one request each, and the first questions about it."""

import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from infra.local.routing import ROOT
from tests.e2e.first_questions import TUNED, UNSEEN, UNTUNED, VARIED, is_right
from tests.e2e.product import (
    add_conversation,
    ask,
    build_conversation_body,
    run_product,
)
from tests.e2e.waiting import wait_until
from tests.local_key import KEY_HEADER, build_command_environment


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with run_product(tmp_path_factory.mktemp("sample")) as product:
        yield product.origin


@pytest.fixture
def http(origin: str, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    """Sign in as a user of this test alone."""
    uid = request.node.name[:40].replace("[", "-").replace("]", "")
    with httpx.Client(base_url=origin, timeout=30) as client:
        answer = client.post("/local/token", json={"uid": uid}, headers=KEY_HEADER)
        client.headers["Authorization"] = f"Bearer {answer.raise_for_status().json()['token']}"
        yield client


def load_sample(http: httpx.Client) -> None:
    assert http.post("/v1/sample-library").status_code == 202
    wait_until(lambda: all(c["status"] == "completed" for c in list_all(http)) or None)


def list_all(http: httpx.Client) -> list[dict[str, str]]:
    page = http.get("/v1/conversations?limit=100").json()
    items: list[dict[str, str]] = page["items"] if isinstance(page, dict) else page
    return items


def count_right(http: httpx.Client, questions: tuple) -> list[str]:  # type: ignore[type-arg]
    return [q for q, checks in questions if not is_right(ask(http, q).text, checks)]


def test_twenty_first_questions_are_answered_offline_u4(http):
    load_sample(http)

    wrong = count_right(http, TUNED)

    assert len(wrong) <= 2, wrong


def test_other_wordings_are_answered_offline(http):
    load_sample(http)

    wrong = count_right(http, UNTUNED)

    assert len(wrong) <= 6, wrong


def test_questions_in_varied_words_are_answered_offline(http):
    load_sample(http)

    wrong = count_right(http, VARIED)

    assert len(wrong) <= 3, wrong


def test_questions_that_no_rule_was_made_for_are_mostly_answered_offline(http):
    load_sample(http)

    wrong = count_right(http, UNSEEN)

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


def test_make_sample_loads_and_removes_it(origin, http):
    def run(*options: str) -> str:
        command = [sys.executable, "-m", "infra.local.sample", "--origin", origin, "--uid", uid]
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
