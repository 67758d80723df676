"""Contexts: the time to build a cycle's input, and the share of it that a provider has cached."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import chain
from time import perf_counter
from typing import Any

from functions.chat.context.blocks import build_earlier_message
from functions.chat.context.context import Context
from functions.chat.runs.journal import Journal
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from infra.bench.figures import Figure
from infra.bench.processes import open_folder
from infra.bench.prompt_cache import CachedInput, PromptCache
from shared.domain.conversations.conversation import Conversation
from shared.domain.models.model import (
    AssistantTurn,
    ModelFacts,
    ModelMessage,
    ToolCall,
    ToolResult,
    UserText,
)
from shared.models.requests import ModelRequest, build_body
from tests.fakes import ModelCall, ScriptedModel, ScriptedTurn, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture, open_chat_fixture
from tests.functions.chat.library import build_conversation, store_conversations

MESSAGES = 1_000
ROUNDS = 50
LINES = 30
MODEL = "gpt-6-sol"
TOPICS = (
    "boat",
    "lease",
    "garden",
    "Lisbon",
    "budget",
    "violin",
    "dentist",
    "roof",
    "launch",
    "dog",
)


def measure_contexts() -> list[Figure]:
    cached = asyncio.run(_measure_cached_input())
    return [
        Figure(f"input of a cycle: {MESSAGES:,} messages", _measure_cycle_ms(), "ms", target=2),
        Figure("input of turns 2 to 10: read from the cache", cached.read_share * 100, "%"),
        Figure("input of turns 2 to 10: its price, to none cached", cached.price_share),
    ]


def _measure_cycle_ms() -> float:
    """Return the fastest of some rounds: what else the machine does is not measured."""
    history = [build_earlier_message(_build_earlier(n)) for n in range(MESSAGES)]
    context = Context(
        rules="x " * 2_000,
        history=tuple(history),
        question="Why?",
        facts=ModelFacts(window_tokens=128_000),
    )
    times_ms = []
    for _ in range(ROUNDS):
        started = perf_counter()
        context.for_cycle(1)
        times_ms.append((perf_counter() - started) * 1000)
    return min(times_ms)


def _build_earlier(number: int) -> Sequence[ModelMessage]:
    """Return a question, or an answer with the call that led to it."""
    text = f"{number} " + "word " * 60
    if number % 2 == 0:
        return [UserText(text=text)]
    call = ToolCall(id="call_0", name="search_conversations", arguments='{"query": "boat"}')
    result = ToolResult(call_id="call_0", text="This call is over.")
    return [AssistantTurn(text="", tool_calls=(call,)), result, AssistantTurn(text=text)]


async def _measure_cached_input() -> CachedInput:
    with open_folder() as data:
        return count_cached_input(await play_chat(open_chat_fixture(data)))


async def play_chat(world: ChatFixture) -> list[list[ModelCall]]:
    """Play ten turns, of which every third follows up without a search; return the model calls of each."""
    await store_conversations(world, ADA, *map(_build_talk, range(len(TOPICS))))
    script = [_script_turn(number) for number in range(len(TOPICS))]
    calls_by_turn: list[list[ModelCall]] = []
    with ScriptedModel(*chain(*script)) as model:
        deps = world.deps(model)
        for topic in TOPICS:
            before = len(model.calls)
            turn = await prepare_turn(deps, ADA, Question(f"What did we say about the {topic}?"))
            await answer_turn(deps, turn, Journal())
            calls_by_turn.append(model.calls[before:])
            world.clock.advance(seconds=60)
    return calls_by_turn


def _build_talk(number: int) -> Conversation:
    topic = TOPICS[number]
    line = (
        f"The {topic} is what we have to settle by day {{}}, and I want to hear what Claire says."
    )
    return build_conversation(number, *map(line.format, range(LINES)))


def _script_turn(number: int) -> Sequence[ScriptedTurn]:
    topic = TOPICS[number]
    search = script_calls(("search_conversations", {"query": topic, "limit": 3}))
    answer = script_answer(f"You talked about the {topic}, and it is to be settled soon[1]. " * 4)
    return (answer,) if number % 3 == 2 else (search, answer)


def count_cached_input(calls_by_turn: Sequence[Sequence[ModelCall]]) -> CachedInput:
    """Count the tokens of all turns but the first, whose beginnings others have sent before or not."""
    cache = PromptCache()
    used_by_turn = [[cache.take(_to_wire(call)) for call in calls] for calls in calls_by_turn]
    return sum(chain(*used_by_turn[1:]), CachedInput())


def _to_wire(call: ModelCall) -> Mapping[str, Any]:
    return build_body(
        ModelRequest(model=MODEL, messages=call.messages, tools=call.tools, marks_prefixes=True)
    )
