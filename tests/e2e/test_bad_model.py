"""Misbehaving model: the owner gets a specific message, and stored data stays intact."""

from collections.abc import Iterator

import httpx
import pytest

from tests.e2e.product import (
    add_conversation,
    ask,
    build_conversation_body,
    build_model_environment,
    run_product,
)
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai, scripted_openai

CALL = ScriptedCall(name="search_conversations", arguments='{"query": "Lisbon"}')
STUCK_TEXT = "I seem to be stuck trying to answer your question."
UNUSABLE_TEXT = "The language model gave no usable answer."
FILTERED_TEXT = "The provider of the language model refused to read or answer this."
FAILED_TEXT = "Something went wrong while I was answering. Please try again."


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedOpenai]:
    with scripted_openai() as server:
        yield server


@pytest.fixture(scope="module")
def owner(
    model: ScriptedOpenai, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("bad_model")
    with (
        run_product(folder, **build_model_environment(model.url)) as started_product,
        started_product.client("alice") as http,
    ):
        yield http


@pytest.fixture
def alice(owner: httpx.Client, model: ScriptedOpenai) -> Iterator[httpx.Client]:
    """Sign in as Alice; her lists must be the same after the test."""
    model.reset()
    yield owner
    for path in ("/v2/messages", "/v1/conversations", "/v3/memories", "/v1/action-items"):
        assert owner.get(path).status_code == 200


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (ScriptedCall(name="fly_to_mars"), "there is no tool 'fly_to_mars'"),
        (ScriptedCall(name="get_memories", arguments='{"limit": '), "are not valid JSON"),
        (ScriptedCall(name="get_memories", arguments="[1]"), "must be a JSON object"),
        (ScriptedCall(name="get_memories", arguments="[" * 100_000), "are not valid JSON"),
        (ScriptedCall(name="get_memories", arguments='{"limit": NaN}'), "are not valid JSON"),
        (ScriptedCall(name="get_memories", arguments='{"limit": 1e999}'), "are not valid JSON"),
        (
            ScriptedCall(name="get_memories", arguments='{"limit": ' + "9" * 5_000 + "}"),
            "are not valid JSON",
        ),
        (
            ScriptedCall(name="search_memories", arguments='{"query": "\\ud800"}'),
            "are not valid JSON",
        ),
        (
            ScriptedCall(
                name="get_conversations", arguments='{"start_date": "0001-01-01T00:00:00+14:00"}'
            ),
            "start_date: ",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_invalid_call_is_explained_to_the_model_which_then_answers(
    alice: httpx.Client, model: ScriptedOpenai, call: ScriptedCall, told: str
) -> None:
    model.play(Script(tool_calls=(call,)), Script(text="Then without it."))

    answer = ask(alice, "What about Lisbon?")

    result = model.answers[-1].body["messages"][-1]
    assert result["role"] == "tool"
    assert told in result["content"]
    assert (answer.text, answer.failed) == ("Then without it.", False)


@pytest.mark.parametrize(
    ("scripts", "told", "outcome"),
    [
        ([Script(tool_calls=(CALL,))] * 3, STUCK_TEXT, "limited"),
        ([Script(tool_calls=(CALL,) * 13), Script(text="So.")], "So.", "completed"),
        ([Script(text="On and on. ", endless=True)], "began to repeat itself", "limited"),
        ([Script(tokens=20, break_after=9)], FAILED_TEXT, "failed"),
        ([Script(text="So", malformed=True)], "So", "completed"),
        ([Script(status=400)] * 6, UNUSABLE_TEXT, "failed"),
        ([Script(refusal="No.")], FILTERED_TEXT, "failed"),
        ([Script(text="")] * 2, "I have no answer to that.", "failed"),
    ],
    ids=[
        "repeats",
        "asks-too-much",
        "endless",
        "breaks-off",
        "no-json",
        "400",
        "refused",
        "silent",
    ],
)
def test_a_failed_answer_ends_with_a_notice_that_is_stored(
    alice: httpx.Client, model: ScriptedOpenai, scripts: list[Script], told: str, outcome: str
) -> None:
    model.play(*scripts)

    answer = ask(alice, "What about Lisbon?")

    assert told in answer.text
    assert answer.done is not None
    assert (answer.done["text"], answer.done["metadata"]["outcome"]) == (answer.text, outcome)
    assert alice.get("/v2/messages").json()[0] == answer.done


@pytest.mark.parametrize(
    "script",
    [
        Script(schema="discard", text='{"discard": fal'),
        Script(schema="discard", text='{"discard": "perhaps"}'),
        Script(schema="discard", text="[]"),
        Script(schema="discard", text=""),
        Script(schema="discard", text='{"discard": false}', finish_reason="length"),
        Script(schema="discard", text='{"discard": false} ', endless=True),
        Script(schema="discard", malformed=True),
    ],
    ids=["cut", "no-boolean", "no-object", "empty", "length", "endless", "no-json"],
)
def test_a_conversation_of_which_a_model_makes_nonsense_keeps_its_own_words(
    alice: httpx.Client, model: ScriptedOpenai, script: Script, request: pytest.FixtureRequest
) -> None:
    body = build_conversation_body(request.node.callspec.id, "Okay, thank you.")
    model.play(script)

    stored = add_conversation(alice, body)

    assert (stored["status"], stored["failure"]) == ("completed", None)
    assert stored["structured"]["title"] == "Okay, thank you"
    assert stored["dropped_memories"] == {"unread": 1}


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (Script(schema="discard", refusal="No."), "filtered"),
        (Script(schema="discard", status=400), "other"),
    ],
    ids=["refused", "400"],
)
def test_a_conversation_that_a_model_refuses_fails_and_is_kept(
    alice: httpx.Client, model: ScriptedOpenai, script: Script, reason: str
) -> None:
    body = build_conversation_body(reason, "Okay, thank you.")
    model.play(script)

    stored = add_conversation(alice, body)

    assert (stored["status"], stored["failure"]) == (
        "failed",
        {
            "reason": reason,
            "detail": FILTERED_TEXT if script.refusal else UNUSABLE_TEXT,
            "can_retry": not script.refusal,
        },
    )
    assert [line["text"] for line in stored["transcript_segments"]] == ["Okay, thank you."]
