"""How an answer came about: told to its owner, without a word of what was said (C75)."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest

from shared.adapters.local_identity import LocalIdentity
from shared.adapters.offline_model import OfflineModel
from shared.domain.ids import UserId
from shared.domain.model import Finished, TextDelta, Usage
from tests.doubles import ScriptedModel, Turn, calls, says
from tests.functions.chat import questions
from tests.functions.chat.conftest import ADA, EVE, SECRET, World
from tests.functions.chat.library import conversation, keep
from tests.functions.chat.test_endpoints import client
from tests.functions.chat.test_turn import app
from tests.log import Log, logged
from tests.old_app import fixed_parser

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CARRIED = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "X-Request-Id": "r1"}
SEARCH = calls(("search_conversations", {"query": "Zanzibar"}))
ANSWER: Turn = (
    TextDelta("Quokkas live there[1]."),
    Finished(
        reason="stop",
        model="scripted",
        usage=Usage(input_tokens=70, cached_tokens=50, output_tokens=9),
    ),
)


async def ask(
    world: World, model: ScriptedModel, *, uid: UserId = ADA, **query: str
) -> tuple[str, httpx.Response]:
    """Ask as `uid`; return the answer's id, and its diagnostics as Ada gets them."""
    deps = world.deps(model)
    asked = {"text": "What about Zanzibar?"}
    async with client(deps, LocalIdentity(SECRET).issue(uid)) as http:
        answer = await http.post("/v2/messages", json=asked, headers=CARRIED, params=query)
    async with client(deps) as http:
        run_id = answer.headers["x-run-id"]
        return run_id, await http.get(f"/v2/messages/{run_id}/diagnostics")


async def test_c75_an_answers_diagnostics_hold_its_path_its_counts_and_its_times(
    world: World,
) -> None:
    await keep(world, ADA, conversation(1, "Quokkas live on Zanzibar, said Ann."))
    with ScriptedModel(SEARCH, ANSWER) as model:
        run_id, read = await ask(world, model)

    told = read.json()
    assert (told["run_id"], told["trace_id"], told["request_id"]) == (run_id, TRACE, "r1")
    assert (told["path"], told["outcome"], told["model"]) == (
        "tools",
        "completed",
        "scripted-agent",
    )
    assert [(t["tool"], t["failed"]) for t in told["tools"]] == [("search_conversations", False)]
    assert (told["cycles"], told["citations"]) == (2, 1)
    assert (told["input_tokens"], told["cached_tokens"], told["output_tokens"]) == (70, 50, 9)
    assert told["reads"] >= 3
    assert told["writes"] >= 2
    assert set(told["stages"]) >= {"prepare", "model", "tools", "first_token"}


@pytest.mark.parametrize(("person", "fallback"), [("ann", False), ("Gerald", True)])
async def test_p13_diagnostics_say_how_the_library_was_searched(
    world: World, person: str, *, fallback: bool
) -> None:
    await keep(world, ADA, conversation(1, "Quokkas live on Zanzibar.", "I know, said Zanzibar."))
    narrowed = calls(("search_conversations", {"query": "Zanzibar", "people": [person]}))
    with ScriptedModel(narrowed, SEARCH, ANSWER) as model:
        _, read = await ask(world, model)

    told = read.json()
    assert told["retrieval_path"] == "words"
    assert told["fallback_without_filters"] is fallback
    assert told["hits"] == 2
    assert "Gerald" not in read.text


async def test_c75_only_the_owner_reads_an_answers_diagnostics(world: World) -> None:
    with ScriptedModel(says("Hi")) as model:
        _, read = await ask(world, model, uid=EVE)

    assert read.status_code == 404


async def test_c75_a_question_and_what_is_not_there_have_no_diagnostics(world: World) -> None:
    with ScriptedModel(says("Hi")) as model:
        await ask(world, model)
        async with client(world.deps(model)) as http:
            newest = (await http.get("/v2/messages")).json()
            (asked,) = [m["id"] for m in newest if m["sender"] == "human"]
            answers = [
                await http.get(f"/v2/messages/{name}/diagnostics") for name in (asked, "none")
            ]

    assert [answer.status_code for answer in answers] == [404, 404]


async def test_c75_no_message_carries_its_diagnostics_out(world: World) -> None:
    with ScriptedModel(says("Hi"), says("Ho")) as model:
        async with client(world.deps(model)) as http:
            frames = await http.post("/v2/messages", json={"text": "Hello"}, headers=CARRIED)
            parts = await http.post(
                "/v2/messages",
                json={"text": "Again"},
                params={"protocol": "ui-message-stream"},
                headers=CARRIED,
            )
            listed = await http.get("/v2/messages")

    assert fixed_parser([frames.content]).done is not None
    for answer in (frames, parts, listed):
        assert "diagnostics" not in answer.text
        assert TRACE not in answer.text


async def test_c75_an_answer_that_fails_says_so(world: World) -> None:
    with ScriptedModel([TextDelta("Half"), LookupError("broken")]) as model:
        _, read = await ask(world, model)

    assert (read.json()["outcome"], read.json()["path"]) == ("failed", "simple")


async def test_c75_a_tool_that_fails_and_one_that_is_not_there_are_told_apart_from_others(
    world: World,
) -> None:
    wrong = calls(("search_conversations", {"query": 7}), ("her_diagnosis", {}))
    with ScriptedModel(wrong, says("Sorry")) as model:
        _, read = await ask(world, model)

    tools = [(tool["tool"], tool["failed"]) for tool in read.json()["tools"]]
    assert sorted(tools) == [("search_conversations", True), ("unknown", True)]
    assert "diagnosis" not in read.text


async def test_p1_a_personas_answer_says_that_it_is_one(world: World) -> None:
    deps = world.deps()
    await deps.apps.create(app(world, persona_prompt="You are Ada Lovelace."))
    with ScriptedModel(says("Indeed")) as model:
        _, read = await ask(world, model, app_id="APP1")

    assert (read.json()["path"], read.json()["model"]) == ("persona", "scripted-persona")


async def test_c75_a_whole_turn_logs_one_line_and_no_word_of_what_was_said(world: World) -> None:
    await keep(world, ADA, conversation(1, "Quokkas live on Zanzibar, said Ann."))
    token = LocalIdentity(SECRET).issue(ADA)
    wanted = {"query": "Zanzibar", "start_date": "marsupial"}
    with logged() as log, ScriptedModel(calls(("search_conversations", wanted)), ANSWER) as model:
        _, read = await ask(world, model)

    (line,) = log.requests(route="POST /v2/messages")
    assert (line["status"], line["outcome"], line["path"]) == (200, "completed", "tools")
    for text in (log.text, read.text):
        assert silent(text, "Zanzibar", "Quokkas", "marsupial", "live there", token, "Ann")


def silent(text: str, *words: str) -> bool:
    return not [word for word in words if word in text]


async def test_c75_a_line_names_the_user_by_a_hash(world: World) -> None:
    with logged() as log, ScriptedModel(says("Hi"), says("Hi")) as model:
        await ask(world, model)
        await ask(world, model, uid=EVE)

    uids = users(log)
    assert len(set(uids)) == 2
    assert not {"ada", "eve"} & set(uids)


def users(log: Log) -> list[Any]:
    return [line["uid"] for line in log.requests(route="POST /v2/messages")]


def labelled(groups: Mapping[str, Sequence[str]], path: str) -> list[tuple[str, str]]:
    return [(question, path) for group in groups.values() for question in group]


QUESTIONS = labelled(questions.SIMPLE, "simple") + labelled(questions.TOOLS, "tools")


@pytest.mark.parametrize(("question", "path"), QUESTIONS)
async def test_p2_diagnostics_show_whether_a_question_needed_its_owners_data(
    world: World, question: str, path: str
) -> None:
    async with client(world.deps(OfflineModel())) as http:
        answer = await http.post("/v2/messages", json={"text": question})
        read = await http.get(f"/v2/messages/{answer.headers['x-run-id']}/diagnostics")

    assert read.json()["path"] == path


def test_p2_the_table_has_more_than_sixty_questions_of_both_kinds() -> None:
    assert len(dict(QUESTIONS)) == len(QUESTIONS) > 60
    assert min(len(labelled(kind, "")) for kind in (questions.SIMPLE, questions.TOOLS)) > 30
