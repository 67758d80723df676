"""UI message chunks as the official `ai` package reads them (X38, X40, X42, C80)."""

from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from functions.chat.api.ui_messages import HEADERS, HEARTBEAT, encode
from shared.domain.chats.run import (
    AnswerExtended,
    AnswerText,
    AnswerWithdrawn,
    CitationShown,
    ReasoningText,
    RunEnded,
    SequencedEvent,
    Stage,
    Status,
    ToolEnded,
    ToolStarted,
    VoiceEnded,
    VoicesStarted,
)
from shared.domain.chats.voices import tag_event
from shared.edge.declare.event_stream import EventStream
from tests.ai_sdk import MAJOR_VERSIONS, SdkClient
from tests.functions.chat.test_ui_messages import CARD, MESSAGE, message_json, number_events
from tests.servers import run_server

pytestmark = pytest.mark.parametrize("major", MAJOR_VERSIONS)

EVENTS = (
    Stage("thinking"),
    ReasoningText("Let me look."),
    Stage("using_tools"),
    Status("Searching conversations"),
    ToolStarted(call_id="c1", tool="search", arguments='{"query":"offsite"}'),
    ToolStarted(call_id="c2", tool="shop", arguments="{broken"),
    ToolEnded(call_id="c1", output="[1] Offsite"),
    ToolEnded(
        call_id="c2", output="Error: closed", failed=True, connect_url="https://a.example/in"
    ),
    Stage("thinking"),
    Stage("answering"),
    AnswerText("On "),
    CitationShown(number=1, card=CARD),
    AnswerText('Friday[1].\n\n🚆 \u2028 \\ "'),
)
RUNS = {
    "completed": number_events([*EVENTS, Stage("response_ready"), RunEnded(MESSAGE, "completed")]),
    "stopped": number_events([*EVENTS[:6], RunEnded(MESSAGE, "stopped")]),
    "voices": number_events(
        [
            VoicesStarted(("large", "small")),
            *[each for event in EVENTS for each in (event, tag_event(event, 1))],
            tag_event(VoiceEnded("failed"), 1),
            VoiceEnded("completed"),
            RunEnded(MESSAGE, "completed"),
        ]
    ),
    "withdrawn": number_events(
        [
            Stage("thinking"),
            AnswerText("Hm. 🚆"),
            AnswerWithdrawn(5),
            ReasoningText("Hm. 🚆"),
            AnswerText("On Friday."),
            RunEnded(MESSAGE, "completed"),
        ]
    ),
    "failed": number_events([*EVENTS, RunEnded(MESSAGE, "failed")]),
    "extended": number_events(
        [
            AnswerText("On Friday."),
            RunEnded(MESSAGE, "completed"),
            AnswerExtended(replace(MESSAGE, text="On Friday.\n\nCall them."), "\n\nCall them."),
        ]
    ),
}


async def stream_run(request: Request) -> EventStream:
    """Answer with a run, and with a heartbeat wherever one is allowed."""

    async def stream_events() -> AsyncGenerator[SequencedEvent, None]:
        for event in RUNS[request.path_params["run"]]:
            yield event

    async def frames() -> AsyncGenerator[bytes, None]:
        yield HEARTBEAT
        async for frame in encode(stream_events(), run_id="run1", encode_message=message_json):
            yield frame
            yield HEARTBEAT

    return EventStream(frames(), heartbeat=HEARTBEAT, headers=HEADERS)


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with run_server(Starlette(routes=[Route("/{run}", stream_run)])) as url:
        yield url


def read_message(sdk: SdkClient, major: str, url: str) -> tuple[Any, list[Any]]:
    """Return the message that a client shows, and the errors that it received."""
    result = sdk.run(major, "chunks", url)
    return result["message"], result["errors"]


def test_an_answer_becomes_a_message_of_steps_tools_sources_and_text(
    sdk: SdkClient, major: str, origin: str
) -> None:
    message, errors = read_message(sdk, major, f"{origin}/completed")

    first, second = [n for n, part in enumerate(message["parts"]) if part["type"] == "step-start"]
    reasoning, search, shop, connect = message["parts"][first + 1 : second]
    text, source, stored = message["parts"][second + 1 :]
    assert errors == []
    assert (message["id"], message["role"]) == ("run1", "assistant")
    assert message["metadata"] == {"outcome": "completed"}
    assert (reasoning["type"], reasoning["text"]) == ("reasoning", "Let me look.")
    assert reasoning["providerMetadata"]["keepsake"]["placement"]["turn_index"] == 0
    places = [tool["callProviderMetadata"]["keepsake"]["placement"] for tool in (search, shop)]
    assert [(place["turn_index"], place["tab_index"]) for place in places] == [(1, 0), (1, 1)]
    assert text["providerMetadata"]["keepsake"]["placement"]["turn_index"] == 2
    assert (search["type"], search["toolName"]) == ("dynamic-tool", "search")
    assert (search["state"], search["output"]) == ("output-available", "[1] Offsite")
    assert search["input"] == {"query": "offsite"}
    assert (shop["state"], shop["errorText"]) == ("output-error", "Error: closed")
    assert shop["input"] == "{broken"
    assert (connect["type"], connect["data"]["url"]) == ("data-connect", "https://a.example/in")
    assert (text["type"], text["state"]) == ("text", "done")
    assert text["text"] == 'On Friday[1].\n\n🚆 \u2028 \\ "'
    assert (source["type"], source["sourceId"]) == ("source-document", "offsite")
    assert source["title"] == "Offsite"
    assert source["providerMetadata"]["keepsake"]["number"] == 1
    assert (stored["type"], stored["data"]["text"]) == ("data-message", "On Friday.")


def test_what_joins_an_answer_after_its_end_is_read_and_takes_the_place_of_the_message_g2(
    sdk: SdkClient, major: str, origin: str
) -> None:
    message, errors = read_message(sdk, major, f"{origin}/extended")

    first, stored, second = message["parts"]
    assert errors == []
    assert (first["text"], second["text"]) == ("On Friday.", "\n\nCall them.")
    assert stored["data"]["text"] == "On Friday.\n\nCall them."


def test_a_stopped_answer_leaves_no_tool_running(sdk: SdkClient, major: str, origin: str) -> None:
    result = sdk.run(major, "chunks", f"{origin}/stopped")

    tools = [part for part in result["message"]["parts"] if part["type"] == "dynamic-tool"]
    assert result["errors"] == []
    assert result["chunks"][-1] == {"type": "abort", "reason": "user_cancelled"}
    assert [tool["state"] for tool in tools] == ["output-error", "output-error"]


def test_a_failed_answer_is_one_error_and_keeps_its_text(
    sdk: SdkClient, major: str, origin: str
) -> None:
    message, errors = read_message(sdk, major, f"{origin}/failed")

    assert errors == ["The answer failed."]
    assert message["parts"][-1]["data"]["text"] == "On Friday."


def test_stages_and_statuses_are_streamed_but_not_part_of_the_message(
    sdk: SdkClient, major: str, origin: str
) -> None:
    result = sdk.run(major, "chunks", f"{origin}/completed")

    stages = [c["data"]["name"] for c in result["chunks"] if c["type"] == "data-stage"]
    part_types = {part["type"] for part in result["message"]["parts"]}
    assert stages == ["thinking", "using_tools", "thinking", "answering", "response_ready"]
    assert part_types.isdisjoint({"data-stage", "data-status"})


def test_parts_in_their_order_tell_which_text_is_void_n1(
    sdk: SdkClient, major: str, origin: str
) -> None:
    message, errors = read_message(sdk, major, f"{origin}/withdrawn")

    _, *parts, _ = message["parts"]
    assert errors == []
    assert [part["type"] for part in parts] == [
        "text",
        "data-answer-withdrawn",
        "reasoning",
        "text",
    ]
    assert parts[1]["data"] == {"chars": len(parts[0]["text"])}


def test_a_client_that_knows_one_answer_reads_the_first_of_several_x32(
    sdk: SdkClient, major: str, origin: str
) -> None:
    message, errors = read_message(sdk, major, f"{origin}/voices")
    alone, _ = read_message(sdk, major, f"{origin}/completed")

    assert errors == []
    assert message["parts"] == alone["parts"]
    assert message["metadata"] == {"outcome": "completed"}
