"""Spans of the started product at a collector: one tree over all functions, and nothing of the user (D7)."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.collector import CollectedSpan
from shared.environment.model_readers import DEFAULT_MODELS
from shared.telemetry import hash_id
from tests.cloud_local.rule_model import RuleModel
from tests.e2e.product import (
    add_conversation,
    ask,
    build_conversation_body,
    build_model_environment,
    run_product,
)
from tests.e2e.test_apps import GardenFixture, GardenServer, list_offered_tools
from tests.e2e.waiting import wait_until
from tests.servers import run_server
from tests.servers.collector import Collector, Place, run_collector
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai

CHAT_TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
LIBRARY_TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
CLIENT_SPAN_ID = "00f067aa0ba902b7"
ALICE = "alice-canary"
MODEL = "scripted-1"
CANARY = "Zanzibar"
CONVERSATION = "offsite-of-zanzibar"


def build_trace_headers(trace_id: str) -> dict[str, str]:
    return {"traceparent": f"00-{trace_id}-{CLIENT_SPAN_ID}-01"}


@dataclass(frozen=True)
class SpansFixture:
    """Alice, an app's server, what answers as a model, and the collector."""

    alice: httpx.Client
    garden: GardenServer
    model: ScriptedOpenai
    collector: Collector

    def wait_for(self, trace_id: str, *places: Place) -> None:
        """Wait until spans of these functions and names have come."""
        wait_until(lambda: set(places) <= self.collector.find_places(trace_id) or None)

    def get_span(self, trace_id: str, place: Place) -> CollectedSpan:
        trace = self.collector.list_trace(trace_id)
        return next(span for span in trace if (span.service, span.name) == place)


@pytest.fixture(params=[RuleModel, ScriptedOpenai])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SpansFixture]:
    model: ScriptedOpenai = request.param()
    garden = GardenServer()
    with ExitStack() as stack:
        collector = stack.enter_context(run_collector())
        garden.url = stack.enter_context(run_server(garden.build_app()))
        settings = {
            **{f"MODEL_{role.upper()}": MODEL for role in DEFAULT_MODELS},
            **build_model_environment(f"{stack.enter_context(run_server(model))}/v1"),
            "EGRESS_DEV_ORIGINS": garden.url,
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        }
        product = stack.enter_context(run_product(tmp_path, **settings))
        alice = stack.enter_context(product.client(ALICE))
        yield SpansFixture(alice, garden, model, collector)


def is_secret_free(collector: Collector, *words: str) -> bool:
    sent = b"".join(collector.bodies).lower()
    return not any(word.lower().encode() in sent for word in (ALICE, hash_id(ALICE), *words))


@pytest.mark.parametrize("world", [ScriptedOpenai], indirect=True)
def test_a_turn_is_one_tree_from_the_request_to_what_follows_the_answer_d7(
    world: SpansFixture,
) -> None:
    GardenFixture(world.alice, world.garden, None).install()
    tool = request_roses(world)
    end = ("after_turn", "process after_turn")

    world.alice.post(
        "/v2/messages", json={"text": "yes"}, headers=build_trace_headers(CHAT_TRACE_ID)
    ).raise_for_status()
    world.wait_for(CHAT_TRACE_ID, end, ("chat", "POST /v2/messages"))

    agent, send = ("chat", "invoke_agent keepsake"), ("chat", "send turn.ended")
    assert world.collector.find_parents(CHAT_TRACE_ID) == {
        ("chat", "POST /v2/messages"): {None},
        agent: {("chat", "POST /v2/messages")},
        ("chat", f"execute_tool {tool}"): {agent},
        ("tool_proxy", "POST /"): {("chat", f"execute_tool {tool}")},
        ("chat", f"chat {MODEL}"): {agent},
        ("chat", "send close_run"): {agent},
        send: {agent},
        end: {send},
        ("after_turn", f"chat {MODEL}"): {end},
        ("after_turn", "send end_stretch"): {end},
    }
    request = world.get_span(CHAT_TRACE_ID, ("chat", "POST /v2/messages"))
    assert (request.kind, request.parent_id) == ("server", CLIENT_SPAN_ID)
    assert request.attributes["http.response.status_code"] == 200
    assert world.get_span(CHAT_TRACE_ID, agent).attributes == {
        "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "keepsake",
    }  # fmt: skip
    assert world.get_span(CHAT_TRACE_ID, ("chat", f"execute_tool {tool}")).attributes == {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool,
    }  # fmt: skip
    assert is_secret_free(world.collector, "roses", "watered", "consent")


def request_roses(world: SpansFixture) -> str:
    """Have the model ask for water; return the name of the tool that waits for a yes."""
    ask(world.alice, "Which tools are there?")
    names = list_offered_tools(world.model)
    tool = next(name for name in names if name.startswith("water_plants"))
    call = ScriptedCall(name=tool, arguments='{"plants": "roses", "litres": null}')
    world.model.play(
        Script(tool_calls=(call,)),
        Script(text="I need your consent."),
        Script(text="The roses are watered.", tokens=7),
    )
    ask(world.alice, "Please water the roses.")
    return tool


@pytest.mark.parametrize("world", [ScriptedOpenai], indirect=True)
def test_a_model_call_says_model_tokens_end_and_first_chunk_d7(world: SpansFixture) -> None:
    world.model.play(Script(text="In spring."))

    world.alice.post(
        "/v2/messages",
        json={"text": f"When was {CANARY}?"},
        headers=build_trace_headers(CHAT_TRACE_ID),
    ).raise_for_status()
    world.wait_for(CHAT_TRACE_ID, ("chat", f"chat {MODEL}"))

    call = world.get_span(CHAT_TRACE_ID, ("chat", f"chat {MODEL}"))
    first_chunk_s = call.attributes.pop("gen_ai.response.time_to_first_chunk")
    assert call.kind == "client"
    assert 0 < first_chunk_s * 1e9 <= call.duration_ns
    tokens = (
        "input_tokens",
        "cache_read.input_tokens",
        "cache_creation.input_tokens",
        "output_tokens",
    )
    assert all(call.attributes.pop(f"gen_ai.usage.{name}") > 0 for name in tokens)
    assert call.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": MODEL,
        "gen_ai.response.model": MODEL,
        "gen_ai.response.finish_reasons": ["stop"],
    }
    assert is_secret_free(world.collector, CANARY, "spring")


@pytest.mark.parametrize("world", [RuleModel], indirect=True)
def test_a_conversation_is_one_tree_from_its_creation_to_its_webhook_d7(
    world: SpansFixture,
) -> None:
    app = world.alice.post("/v1/apps", json=build_diary(world.garden.url)).json()
    world.garden.signing_secret = app["signing_secret"]
    world.alice.post("/v1/apps/enable", params={"app_id": app["id"]}).raise_for_status()
    processing = ("process_conversation", "process process_conversation")
    notifying = ("on_conversation_processed", "process on_conversation_processed")
    end = ("deliver_webhook", "process deliver_webhook")
    body = build_conversation_body(CONVERSATION, f"The {CANARY} offsite moves to Friday.")

    world.alice.post(
        "/v1/conversations", json=body, headers=build_trace_headers(LIBRARY_TRACE_ID)
    ).raise_for_status()
    trigger = ("on_conversation_written", "process on_conversation_written")
    created = ("library", "POST /v1/conversations")
    world.wait_for(LIBRARY_TRACE_ID, created, trigger, processing, notifying, end)

    parents = world.collector.find_parents(LIBRARY_TRACE_ID)
    assert created in parents.pop(trigger)  # later ones are processing's own writes
    assert parents == {
        created: {None},
        (trigger[0], "send conversation.changed"): {trigger},
        processing: {(trigger[0], "send conversation.changed")},
        (processing[0], f"chat {MODEL}"): {processing},
        (processing[0], "index conversation"): {processing},
        (processing[0], "send conversation.processed"): {processing},
        notifying: {(processing[0], "send conversation.processed")},
        (notifying[0], "send deliver_webhook"): {notifying},
        end: {(notifying[0], "send deliver_webhook")},
    }
    assert is_secret_free(world.collector, CANARY, "Friday", CONVERSATION)


def build_diary(url: str) -> dict[str, Any]:
    integration = {"triggers_on": "memory_creation", "webhook_url": f"{url}/water"}
    return {"name": "Diary", "external_integration": integration}


@pytest.mark.parametrize("world", [RuleModel], indirect=True)
def test_a_search_is_a_retrieval_within_the_call_of_its_tool_d7(world: SpansFixture) -> None:
    add_conversation(world.alice, build_conversation_body("offsite", f"The {CANARY} offsite."))

    world.alice.post(
        "/v2/messages",
        json={"text": f"When is the {CANARY} offsite?"},
        headers=build_trace_headers(CHAT_TRACE_ID),
    ).raise_for_status()
    search = ("chat", "execute_tool search_conversations")
    world.wait_for(CHAT_TRACE_ID, search)

    parents = world.collector.find_parents(CHAT_TRACE_ID)
    turn = ("chat", "POST /v2/messages")  # it looks for what is known as well
    assert parents[("chat", "retrieval conversations")] == {search, turn}
    assert world.get_span(CHAT_TRACE_ID, ("chat", "retrieval conversations")).attributes == {
        "gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": "conversations",
    }  # fmt: skip
    assert is_secret_free(world.collector, CANARY)


@pytest.mark.parametrize("world", [RuleModel], indirect=True)
def test_paths_queries_and_bodies_that_are_refused_leave_no_word_d7(world: SpansFixture) -> None:
    for method, path in (
        ("GET", f"/v1/conversations/{CANARY}"),
        ("GET", f"/v1/conversations?folder_id={CANARY}&{CANARY}=1"),
        ("PUT", f"/v1/{CANARY}/{CANARY}"),
        ("POST", f"/v1/apps?name={CANARY}"),
    ):
        headers = {**build_trace_headers(CHAT_TRACE_ID), "User-Agent": CANARY}
        world.alice.request(method, path, content=CANARY, headers=headers)
    wait_until(lambda: len(world.collector.list_trace(CHAT_TRACE_ID)) >= 3 or None)

    assert is_secret_free(world.collector, CANARY)
