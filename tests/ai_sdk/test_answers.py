"""The official `ai` package against the product: questions, resuming and stopping (X34, X36, X38, X40)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.ai_sdk import MAJOR_VERSIONS, SdkClient
from tests.e2e.product import (
    add_conversation,
    build_conversation_body,
    build_model_environment,
    run_product,
)
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai, scripted_openai

STREAM_PARAMS = {"protocol": "ui-message-stream"}
SEARCH_CALL = ScriptedCall(name="search_conversations", arguments='{"query": "Lisbon offsite"}')
TURN_SCRIPTS = (
    Script(reasoning="Let me look.", tool_calls=(SEARCH_CALL,)),
    Script(text="It moves to Friday [1]. Nobody said more [7], see `x[1]`."),
)
ANSWER_TEXT = "It moves to Friday[1]. Nobody said more [7], see `x[1]`."


@dataclass
class SdkFixture:
    """Alice at a product that knows one conversation, with a scripted model."""

    http: httpx.Client
    model: ScriptedOpenai
    sdk: SdkClient

    def run_client(self, major: str, mode: str, argument: str) -> Any:
        token = self.http.headers["authorization"].removeprefix("Bearer ")
        origin = str(self.http.base_url)
        return self.sdk.run(major, mode, origin, token=token, argument=argument)

    def answer_once(self) -> None:
        """Have the model answer, since five failures in a row open its circuit breaker."""
        self.model.play(Script(text="Hello."))
        self.http.post("/v2/messages", params=STREAM_PARAMS, json={"text": "Hi"})

    def begin_run(self, *scripts: Script) -> str:
        """Ask, read the first piece of the answer and disconnect; return the run's id."""
        self.model.play(*scripts)
        body = {"text": "Hello"}
        with self.http.stream("POST", "/v2/messages", params=STREAM_PARAMS, json=body) as answer:
            for line in answer.iter_lines():
                if "text-delta" in line:
                    break
            return answer.headers["x-run-id"]


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory, sdk: SdkClient) -> Iterator[SdkFixture]:
    folder = tmp_path_factory.mktemp("answers")
    with run_product(folder) as offline, offline.client("alice") as http:
        add_conversation(
            http, build_conversation_body("offsite", "The Lisbon offsite moves to Friday.")
        )
    with (
        scripted_openai() as model,
        run_product(folder, **build_model_environment(model.url)) as started_product,
        started_product.client("alice") as http,
    ):
        yield SdkFixture(http, model, sdk)


def test_a_disconnected_client_resumes_with_the_exact_missing_bytes_x36(
    asker: SdkFixture,
) -> None:
    asker.model.reset()
    asker.model.play(*TURN_SCRIPTS)
    response = asker.http.post("/v2/messages", params=STREAM_PARAMS, json={"text": "Hello"})
    stream = f"/v2/messages/{response.headers['x-run-id']}/stream"
    whole = asker.http.get(stream).content
    ends = [match.end() for match in re.finditer(rb"\nid: (\d+)\n\n", whole)]

    for end in ends[:-1]:
        last = whole[:end].rpartition(b"id: ")[2].strip().decode()
        rest = asker.http.get(stream, headers={"Last-Event-ID": last})
        assert rest.headers["x-vercel-ai-ui-message-stream"] == "v1"
        assert whole[:end] + rest.content == whole

    assert len(ends) > 10


@pytest.fixture(params=MAJOR_VERSIONS)
def major(request: pytest.FixtureRequest, asker: SdkFixture) -> str:
    asker.model.reset()
    chosen: str = request.param
    return chosen


def select_parts(result: Any, kind: str) -> list[Any]:
    return [part for part in result["message"]["parts"] if part["type"] == kind]


def join_text(result: Any) -> str:
    return "".join(part["text"] for part in select_parts(result, "text"))


def test_an_answer_cites_its_stored_sources_x40(asker: SdkFixture, major: str) -> None:
    asker.model.play(*TURN_SCRIPTS)

    result = asker.run_client(major, "ask", "When is the offsite?")

    (stored,) = select_parts(result, "data-message")
    newest = asker.http.get("/v2/messages").json()[0]
    (source,) = select_parts(result, "source-document")
    (tool,) = select_parts(result, "dynamic-tool")
    assert result["errors"] == []
    assert join_text(result) == stored["data"]["metadata"]["marked_text"] == ANSWER_TEXT
    assert stored["data"] == newest
    assert stored["data"]["text"] == ANSWER_TEXT.replace("Friday[1]", "Friday")
    assert [source["sourceId"]] == stored["data"]["memories_id"] == ["offsite"]
    assert [part["text"] for part in select_parts(result, "reasoning")] == ["Let me look."]
    assert (tool["toolName"], tool["state"]) == ("search_conversations", "output-available")
    assert result["message"]["id"] == stored["data"]["id"]
    assert result["chunks"][-1]["type"] == "finish"


def test_a_finished_answer_is_resumed_as_it_was_streamed_x36(asker: SdkFixture, major: str) -> None:
    asker.model.play(*TURN_SCRIPTS)
    first = asker.run_client(major, "ask", "When is the offsite?")

    resumed = asker.run_client(major, "resume", first["message"]["id"])

    assert join_text(resumed) == join_text(first)
    assert resumed["chunks"][-1] == first["chunks"][-1]
    for kind in ("reasoning", "dynamic-tool", "source-document", "data-message"):
        assert select_parts(resumed, kind) == select_parts(first, kind)


def test_an_answer_in_progress_is_resumed_from_its_beginning_x36(
    asker: SdkFixture, major: str
) -> None:
    words = Script(tokens=60, token_ms=10)
    run_id = asker.begin_run(words)

    resumed = asker.run_client(major, "resume", run_id)

    (stored,) = select_parts(resumed, "data-message")
    assert len(join_text(resumed).split()) == 60
    assert join_text(resumed) == stored["data"]["text"]
    assert resumed["chunks"][-1]["type"] == "finish"


def test_the_core_of_use_chat_asks_and_resumes_x36(asker: SdkFixture, major: str) -> None:
    asker.model.play(*TURN_SCRIPTS)

    first, second = asker.run_client(major, "chat", "When is the offsite?")

    assert (first["status"], second["status"]) == ("ready", "ready")
    assert join_text({"message": first["messages"][1]}) == ANSWER_TEXT
    assert second["messages"][1]["parts"] == first["messages"][1]["parts"]


def test_a_stopped_answer_ends_in_an_abort_and_keeps_its_text_x34(
    asker: SdkFixture, major: str
) -> None:
    run_id = asker.begin_run(Script(text="Half of it", stall_after=2))
    stopping = asker.http.post(f"/v2/messages/{run_id}/stop")

    resumed = asker.run_client(major, "resume", run_id)

    (stored,) = select_parts(resumed, "data-message")
    assert stopping.status_code in (200, 202)
    assert resumed["chunks"][-1] == {"type": "abort", "reason": "user_cancelled"}
    assert join_text(resumed) == stored["data"]["text"]
    assert "Half of it".startswith(join_text(resumed))
    assert resumed["errors"] == []


def test_a_model_that_fails_is_one_error(asker: SdkFixture, major: str) -> None:
    asker.answer_once()
    asker.model.play(Script(text="Half of it", break_after=2))

    result = asker.run_client(major, "ask", "Hello")

    terminals = [c for c in result["chunks"] if c["type"] in ("finish", "abort", "error")]
    assert [terminal["type"] for terminal in terminals] == ["error"]
    assert len(result["errors"]) == 1
    assert join_text(result).startswith("Half of")


def test_a_refusal_is_a_problem_and_reaches_no_model(asker: SdkFixture, major: str) -> None:
    result = asker.run_client(major, "ask", " ")

    assert "empty" in result["refused"]
    assert asker.model.requests == []


def test_a_failed_answer_leaves_use_chat_in_error(asker: SdkFixture, major: str) -> None:
    asker.answer_once()
    asker.model.play(Script(text="Half of it", break_after=2))

    first, _ = asker.run_client(major, "chat", "Hello")

    assert (first["status"], first["error"]) == ("error", "The answer failed.")
    assert join_text({"message": first["messages"][1]}).startswith("Half of")


def test_an_unknown_answer_cannot_be_resumed(asker: SdkFixture, major: str) -> None:
    assert "refused" in asker.run_client(major, "resume", "nosuchrun")
