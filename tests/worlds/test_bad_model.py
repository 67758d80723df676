"""A model that misbehaves: the owner is told something specific, and what is stored stays whole."""

from collections.abc import Iterator

import httpx
import pytest

from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai, scripted_openai
from tests.worlds.product import ask, conversation, keep, product, with_model

CALL = ScriptedCall(name="search_conversations", arguments='{"query": "Lisbon"}')
STUCK = "I seem to be stuck trying to answer your question."
BROKEN = "Something went wrong while I was answering. Please try again."
TOO_MANY = "I'm having trouble finding all the information you need."


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedOpenai]:
    with scripted_openai() as server:
        yield server


@pytest.fixture(scope="module")
def owner(
    model: ScriptedOpenai, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("bad_model")
    with product(folder, **with_model(model.url)) as started, started.client("alice") as http:
        yield http


@pytest.fixture
def alice(owner: httpx.Client, model: ScriptedOpenai) -> Iterator[httpx.Client]:
    """Be Alice; what she can list before a test, she can list after it."""
    model.forget()
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
        (ScriptedCall(name="get_memories", arguments='{"limit": 1e999}'), "limit: "),
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
def test_a_wrong_call_is_told_to_the_model_which_answers_then(
    alice: httpx.Client, model: ScriptedOpenai, call: ScriptedCall, told: str
) -> None:
    model.play(Script(tool_calls=(call,)), Script(text="Then without it."))

    shown = ask(alice, "What about Lisbon?")

    result = model.requests[-1].body["messages"][-1]
    assert result["role"] == "tool"
    assert told in result["content"]
    assert (shown.text, shown.failed) == ("Then without it.", False)


@pytest.mark.parametrize(
    ("scripts", "told", "outcome"),
    [
        ([Script(tool_calls=(CALL,))] * 3, STUCK, "limited"),
        ([Script(tool_calls=(CALL,) * 11)], TOO_MANY, "limited"),
        ([Script(text="On and on. ", endless=True)], "My answer was getting too long", "limited"),
        ([Script(tokens=20, break_after=9)], BROKEN, "failed"),
        ([Script(text="So", malformed=True)], BROKEN, "failed"),
        ([Script(status=400)], BROKEN, "failed"),
        ([Script(refusal="No.")], BROKEN, "failed"),
        ([Script(text="")], "I have no answer to that.", "failed"),
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
def test_an_answer_that_goes_wrong_ends_in_words_that_are_stored(
    alice: httpx.Client, model: ScriptedOpenai, scripts: list[Script], told: str, outcome: str
) -> None:
    model.play(*scripts)

    shown = ask(alice, "What about Lisbon?")

    assert told in shown.text
    assert shown.done is not None
    assert (shown.done["text"], shown.done["metadata"]["outcome"]) == (shown.text, outcome)
    assert alice.get("/v2/messages").json()[0] == shown.done


@pytest.mark.parametrize(
    "script",
    [
        Script(schema="discard", text='{"discard": fal'),
        Script(schema="discard", text='{"discard": "perhaps"}'),
        Script(schema="discard", text="[]"),
        Script(schema="discard", text=""),
        Script(schema="discard", text='{"discard": false}', finish_reason="length"),
        Script(schema="discard", text='{"discard": false} ', endless=True),
        Script(schema="discard", refusal="No."),
        Script(schema="discard", malformed=True),
        Script(schema="discard", status=400),
    ],
    ids=[
        "cut",
        "no-boolean",
        "no-object",
        "empty",
        "length",
        "endless",
        "refused",
        "no-json",
        "400",
    ],
)
def test_a_conversation_the_model_cannot_read_says_so_and_stays(
    alice: httpx.Client, model: ScriptedOpenai, script: Script, request: pytest.FixtureRequest
) -> None:
    said = conversation(request.node.callspec.id, "The offsite moves to Friday.")
    model.play(script)

    kept = keep(alice, said)

    assert (kept["status"], kept["failure"]) == (
        "failed",
        "The language model gave no usable answer.",
    )
    assert [line["text"] for line in kept["transcript_segments"]] == [
        "The offsite moves to Friday."
    ]
