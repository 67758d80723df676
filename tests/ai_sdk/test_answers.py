"""The official `ai` package asks the product, resumes and is stopped (X34, X36, X38, X40)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.ai_sdk import MAJORS, read
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai, scripted_openai
from tests.worlds.product import conversation, keep, product, with_model

STREAM = {"protocol": "ui-message-stream"}
SEARCH = ScriptedCall(name="search_conversations", arguments='{"query": "Lisbon offsite"}')
TURN = (
    Script(reasoning="Let me look.", tool_calls=(SEARCH,)),
    Script(text="It moves to Friday [1]. Nobody said more [7], see `x[1]`."),
)
SAID = "It moves to Friday[1]. Nobody said more, see `x[1]`."


@dataclass
class Asker:
    """Alice at a product that knows one conversation, with a scripted model."""

    http: httpx.Client
    model: ScriptedOpenai

    def read(self, major: str, how: str, argument: str) -> Any:
        token = self.http.headers["authorization"].removeprefix("Bearer ")
        return read(major, how, str(self.http.base_url), token=token, argument=argument)

    def answer(self) -> None:
        """Have the model answer well: after five failures in a row it would be left alone."""
        self.model.play(Script(text="Hello."))
        self.http.post("/v2/messages", params=STREAM, json={"text": "Hi"})

    def begin(self, *scripts: Script) -> str:
        """Ask, read the first piece of the answer, go away; return the run's id."""
        self.model.play(*scripts)
        body = {"text": "Hello"}
        with self.http.stream("POST", "/v2/messages", params=STREAM, json=body) as answer:
            for line in answer.iter_lines():
                if "text-delta" in line:
                    break
            return answer.headers["x-run-id"]


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    folder = tmp_path_factory.mktemp("answers")
    with product(folder) as offline, offline.client("alice") as http:
        keep(http, conversation("offsite", "The Lisbon offsite moves to Friday."))
    with (
        scripted_openai() as model,
        product(folder, **with_model(model.url)) as started,
        started.client("alice") as http,
    ):
        yield Asker(http, model)


def test_x36_wherever_a_client_is_cut_off_it_is_sent_the_very_bytes_it_missed(
    asker: Asker,
) -> None:
    asker.model.forget()
    asker.model.play(*TURN)
    asked = asker.http.post("/v2/messages", params=STREAM, json={"text": "Hello"})
    stream = f"/v2/messages/{asked.headers['x-run-id']}/stream"
    whole = asker.http.get(stream).content
    ends = [match.end() for match in re.finditer(rb"\nid: (\d+)\n\n", whole)]

    for end in ends[:-1]:
        last = whole[:end].rpartition(b"id: ")[2].strip().decode()
        rest = asker.http.get(stream, headers={"Last-Event-ID": last})
        assert rest.headers["x-vercel-ai-ui-message-stream"] == "v1"
        assert whole[:end] + rest.content == whole

    assert len(ends) > 10


@pytest.fixture(params=MAJORS)
def major(request: pytest.FixtureRequest, asker: Asker) -> str:
    asker.model.forget()
    chosen: str = request.param
    return chosen


def parts(found: Any, kind: str) -> list[Any]:
    return [part for part in found["message"]["parts"] if part["type"] == kind]


def text(found: Any) -> str:
    return "".join(part["text"] for part in parts(found, "text"))


def test_x40_an_answer_cites_what_is_stored_with_it(asker: Asker, major: str) -> None:
    asker.model.play(*TURN)

    found = asker.read(major, "ask", "When is the offsite?")

    (stored,) = parts(found, "data-message")
    newest = asker.http.get("/v2/messages").json()[0]
    (source,) = parts(found, "source-document")
    (tool,) = parts(found, "dynamic-tool")
    assert found["errors"] == []
    assert text(found) == stored["data"]["metadata"]["marked_text"] == SAID
    assert stored["data"] == newest
    assert stored["data"]["text"] == SAID.replace("Friday[1]", "Friday")
    assert [source["sourceId"]] == stored["data"]["memories_id"] == ["offsite"]
    assert [part["text"] for part in parts(found, "reasoning")] == ["Let me look."]
    assert (tool["toolName"], tool["state"]) == ("search_conversations", "output-available")
    assert found["message"]["id"] == stored["data"]["id"]
    assert found["chunks"][-1]["type"] == "finish"


def test_x36_a_finished_answer_is_resumed_as_it_was_told(asker: Asker, major: str) -> None:
    asker.model.play(*TURN)
    asked = asker.read(major, "ask", "When is the offsite?")

    resumed = asker.read(major, "resume", asked["message"]["id"])

    assert text(resumed) == text(asked)
    assert resumed["chunks"][-1] == asked["chunks"][-1]
    for kind in ("reasoning", "dynamic-tool", "source-document", "data-message"):
        assert parts(resumed, kind) == parts(asked, kind)


def test_x36_an_answer_in_progress_is_resumed_from_its_beginning(asker: Asker, major: str) -> None:
    words = Script(tokens=60, token_ms=10)
    run_id = asker.begin(words)

    resumed = asker.read(major, "resume", run_id)

    (stored,) = parts(resumed, "data-message")
    assert len(text(resumed).split()) == 60
    assert text(resumed) == stored["data"]["text"]
    assert resumed["chunks"][-1]["type"] == "finish"


def test_x36_what_use_chat_stands_on_asks_and_resumes(asker: Asker, major: str) -> None:
    asker.model.play(*TURN)

    first, second = asker.read(major, "chat", "When is the offsite?")

    assert (first["status"], second["status"]) == ("ready", "ready")
    assert text({"message": first["messages"][1]}) == SAID
    assert second["messages"][1]["parts"] == first["messages"][1]["parts"]


def test_x34_a_stopped_answer_ends_in_an_abort_and_keeps_its_words(
    asker: Asker, major: str
) -> None:
    run_id = asker.begin(Script(text="Half of it", stall_after=2))
    stopping = asker.http.post(f"/v2/messages/{run_id}/stop")

    resumed = asker.read(major, "resume", run_id)

    (stored,) = parts(resumed, "data-message")
    assert stopping.status_code in (200, 202)
    assert resumed["chunks"][-1] == {"type": "abort", "reason": "user_cancelled"}
    assert text(resumed) == stored["data"]["text"]
    assert "Half of it".startswith(text(resumed))
    assert resumed["errors"] == []


def test_a_model_that_fails_is_one_error(asker: Asker, major: str) -> None:
    asker.answer()
    asker.model.play(Script(text="Half of it", break_after=2))

    found = asker.read(major, "ask", "Hello")

    terminals = [c for c in found["chunks"] if c["type"] in ("finish", "abort", "error")]
    assert [terminal["type"] for terminal in terminals] == ["error"]
    assert len(found["errors"]) == 1
    assert text(found).startswith("Half of")


def test_a_refusal_is_a_problem_and_reaches_no_model(asker: Asker, major: str) -> None:
    refused = asker.read(major, "ask", " ")

    assert "empty" in refused["refused"]
    assert asker.model.requests == []


def test_a_failed_answer_leaves_use_chat_in_error(asker: Asker, major: str) -> None:
    asker.answer()
    asker.model.play(Script(text="Half of it", break_after=2))

    first, _ = asker.read(major, "chat", "Hello")

    assert (first["status"], first["error"]) == ("error", "The answer failed.")
    assert text({"message": first["messages"][1]}).startswith("Half of")


def test_an_unknown_answer_cannot_be_resumed(asker: Asker, major: str) -> None:
    assert "refused" in asker.read(major, "resume", "nosuchrun")
