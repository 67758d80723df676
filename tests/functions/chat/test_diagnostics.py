"""Diagnostics of an answer, for its owner and the log, without any content (C75)."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest

from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.domain.ids import MessageId, UserId
from shared.domain.models.model import ModelCallFinished, TextDelta, Usage
from shared.domain.store.documents import Update
from tests.fakes import ScriptedModel, ScriptedTurn, script_answer, script_calls
from tests.fixtures.callers import IDENTITY
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat import questions
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.chat.test_message_routes import open_chat
from tests.functions.chat.test_turn import build_app
from tests.log import CapturedLog, capture_log
from tests.old_app import parse_as_fixed_app

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACE_HEADERS = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "X-Request-Id": "r1"}
SEARCH = script_calls(("search_conversations", {"query": "Zanzibar"}))
ANSWER: ScriptedTurn = (
    TextDelta("Quokkas live there[1]."),
    ModelCallFinished(
        reason="stop",
        model="scripted",
        usage=Usage(input_tokens=70, cached_tokens=50, output_tokens=9, cost_micro_usd=120),
    ),
)


async def ask(
    world: ChatFixture, model: ScriptedModel, *, uid: UserId = ADA, **query: str
) -> tuple[str, httpx.Response]:
    """Ask as `uid`; return the answer's id, and its diagnostics as Ada gets them."""
    deps = world.deps(model)
    body = {"text": "What about Zanzibar?"}
    async with open_chat(deps, uid) as http:
        answer = await http.post("/v2/messages", json=body, headers=TRACE_HEADERS, params=query)
    async with open_chat(deps) as http:
        run_id = answer.headers["x-run-id"]
        return run_id, await http.get(f"/v2/messages/{run_id}/diagnostics")


async def test_an_answers_diagnostics_hold_its_path_its_counts_and_its_times_c75(
    world: ChatFixture,
) -> None:
    await store_conversations(
        world, ADA, build_conversation(1, "Quokkas live on Zanzibar, said Ann.")
    )
    with ScriptedModel(SEARCH, ANSWER) as model:
        run_id, response = await ask(world, model)

    fields = response.json()
    assert (fields["run_id"], fields["trace_id"], fields["request_id"]) == (run_id, TRACE, "r1")
    assert (fields["path"], fields["outcome"], fields["model"]) == (
        "tools",
        "completed",
        "scripted-agent",
    )
    assert [(t["tool"], t["failed"]) for t in fields["tools"]] == [("search_conversations", False)]
    assert (fields["cycles"], fields["citations"]) == (2, 1)
    assert (fields["input_tokens"], fields["cached_tokens"], fields["output_tokens"]) == (70, 50, 9)
    assert (fields["cost_micro_usd"], fields["unpriced_calls"]) == (120, 1)  # the first one's
    assert fields["reads"] >= 3
    assert fields["writes"] >= 2
    assert set(fields["stages"]) >= {"prepare", "model", "tools", "first_token"}


async def test_a_reason_of_an_earlier_release_is_left_out_m96(world: ChatFixture) -> None:
    with ScriptedModel(ANSWER) as model:
        run_id, _ = await ask(world, model)
    messages = world.deps().stores.messages
    stored = (await messages.get(ADA, MessageId(run_id))).diagnostics
    await world.documents.write(
        Update(f"users/ada/messages/{run_id}", {"diagnostics": {**stored, "model_reason": "code"}})
    )

    async with open_chat(world.deps()) as http:
        response = await http.get(f"/v2/messages/{run_id}/diagnostics")

    assert (response.status_code, response.json()["model_reason"]) == (200, None)


@pytest.mark.parametrize(("person", "fallback"), [("ann", False), ("Gerald", True)])
async def test_diagnostics_say_how_the_library_was_searched_p13(
    world: ChatFixture, person: str, *, fallback: bool
) -> None:
    await store_conversations(
        world, ADA, build_conversation(1, "Quokkas live on Zanzibar.", "I know, said Zanzibar.")
    )
    filtered_search = script_calls(
        ("search_conversations", {"query": "Zanzibar", "people": [person]})
    )
    with ScriptedModel(filtered_search, SEARCH, ANSWER) as model:
        _, response = await ask(world, model)

    fields = response.json()
    assert fields["retrieval_path"] == "words"
    assert fields["fallback_without_filters"] is fallback
    assert fields["hits"] == 2
    assert "Gerald" not in response.text


async def test_only_the_owner_reads_an_answers_diagnostics_c75(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        _, response = await ask(world, model, uid=EVE)

    assert response.status_code == 404


async def test_a_question_and_an_unknown_message_have_no_diagnostics_c75(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        await ask(world, model)
        async with open_chat(world.deps(model)) as http:
            newest = (await http.get("/v2/messages")).json()
            (question_id,) = [m["id"] for m in newest if m["sender"] == "human"]
            answers = [
                await http.get(f"/v2/messages/{name}/diagnostics") for name in (question_id, "none")
            ]

    assert [answer.status_code for answer in answers] == [404, 404]


async def test_no_message_response_contains_diagnostics_c75(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi"), script_answer("Ho")) as model:
        async with open_chat(world.deps(model)) as http:
            frames = await http.post("/v2/messages", json={"text": "Hello"}, headers=TRACE_HEADERS)
            parts = await http.post(
                "/v2/messages",
                json={"text": "Again"},
                params={"protocol": "ui-message-stream"},
                headers=TRACE_HEADERS,
            )
            message_list = await http.get("/v2/messages")

    assert parse_as_fixed_app([frames.content]).done is not None
    for answer in (frames, parts, message_list):
        assert "diagnostics" not in answer.text
        assert TRACE not in answer.text


async def test_the_diagnostics_of_a_failed_answer_say_that_it_failed_c75(
    world: ChatFixture,
) -> None:
    with ScriptedModel([TextDelta("Half"), LookupError("broken")]) as model:
        _, response = await ask(world, model)

    assert (response.json()["outcome"], response.json()["path"]) == ("failed", "simple")


async def test_diagnostics_mark_failed_and_unknown_tools_c75(
    world: ChatFixture,
) -> None:
    wrong = script_calls(("search_conversations", {"query": 7}), ("her_diagnosis", {}))
    with ScriptedModel(wrong, script_answer("Sorry")) as model:
        _, response = await ask(world, model)

    tools = [(tool["tool"], tool["failed"]) for tool in response.json()["tools"]]
    assert sorted(tools) == [("search_conversations", True), ("unknown", True)]
    assert "diagnosis" not in response.text


async def test_the_diagnostics_of_a_personas_answer_name_its_path_p1(world: ChatFixture) -> None:
    deps = world.deps()
    await deps.stores.apps.create(build_app(world, persona_prompt="You are Ada Lovelace."))
    with ScriptedModel(script_answer("Indeed")) as model:
        _, response = await ask(world, model, app_id="APP1")

    assert (response.json()["path"], response.json()["model"]) == ("persona", "scripted-persona")


async def test_a_turn_logs_one_line_without_any_content_c75(world: ChatFixture) -> None:
    await store_conversations(
        world, ADA, build_conversation(1, "Quokkas live on Zanzibar, said Ann.")
    )
    token = IDENTITY.issue(ADA)
    arguments = {"query": "Zanzibar", "start_date": "marsupial"}
    with (
        capture_log() as log,
        ScriptedModel(script_calls(("search_conversations", arguments)), ANSWER) as model,
    ):
        _, response = await ask(world, model)

    (line,) = log.find_requests(route="POST /v2/messages")
    assert (line["status"], line["outcome"], line["path"]) == (200, "completed", "tools")
    for text in (log.text, response.text):
        assert contains_none_of(
            text, "Zanzibar", "Quokkas", "marsupial", "live there", token, "Ann"
        )


def contains_none_of(text: str, *secrets: str) -> bool:
    return not [secret for secret in secrets if secret in text]


async def test_a_line_names_the_user_by_a_hash_c75(world: ChatFixture) -> None:
    with capture_log() as log, ScriptedModel(script_answer("Hi"), script_answer("Hi")) as model:
        await ask(world, model)
        await ask(world, model, uid=EVE)

    uids = list_logged_users(log)
    assert len(set(uids)) == 2
    assert not {"ada", "eve"} & set(uids)


def list_logged_users(log: CapturedLog) -> list[Any]:
    return [line["uid"] for line in log.find_requests(route="POST /v2/messages")]


def label_questions(groups: Mapping[str, Sequence[str]], path: str) -> list[tuple[str, str]]:
    return [(question, path) for group in groups.values() for question in group]


QUESTIONS = [
    *label_questions(questions.SMALL_TALK, "simple"),
    *label_questions(questions.QUESTIONS, "tools"),
]


@pytest.mark.parametrize(("question", "path"), QUESTIONS)
async def test_diagnostics_show_that_every_question_is_searched_for_offline_p2(
    world: ChatFixture, question: str, path: str
) -> None:
    async with open_chat(world.deps(OfflineModel())) as http:
        answer = await http.post("/v2/messages", json={"text": question})
        response = await http.get(f"/v2/messages/{answer.headers['x-run-id']}/diagnostics")

    assert response.json()["path"] == path
