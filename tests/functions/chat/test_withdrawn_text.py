"""Withdrawn text: a thought that was streamed as the answer leaves no trace in it (N1, X33, X36)."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import anyio
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.api.message_schemas import to_message_json
from functions.chat.api.ui_messages import encode
from functions.chat.runs.build_message import build_message
from functions.chat.runs.close_run import close_as_interrupted
from functions.chat.runs.journal import merge_text
from functions.chat.runs.run_events import stream_events
from functions.chat.turn.answer_turn import build_run
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.domain.chats.chat import Message
from shared.domain.chats.run import (
    AnswerText,
    AnswerWithdrawn,
    Batch,
    OwnText,
    ReasoningText,
    Run,
    RunEnded,
    RunEvent,
    SequencedEvent,
    Stage,
    ToolStarted,
    VoicesStarted,
)
from shared.domain.chats.voices import select_voice, tag_event
from shared.domain.ids import MessageId
from shared.domain.models.model import ModelEvent, ReasoningDelta, TextDelta, TextWithdrawn
from tests.fakes import ScriptedModel, ScriptedTurn, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture, build_chat_fixture
from tests.fixtures.storage import MemoryDatabase
from tests.functions.chat.test_agent import (
    build_agent,
    build_tool,
    collect_events,
    return_card_numbers,
)
from tests.functions.chat.test_steps import AT, RUN
from tests.functions.chat.test_ui_messages import parse_chunks, take_whole_events

MODELS = ("large", "small")


@dataclass
class Screen:
    """A client that follows the rules of the UI message stream: what it shows of one voice."""

    text: str = ""
    sources: dict[int, str] = field(default_factory=dict)

    def take(self, chunk: Mapping[str, Any]) -> None:
        match chunk:
            case {"type": "text-delta", "delta": delta}:
                self.text += delta
            case {"type": "data-answer-withdrawn", "data": {"chars": chars}}:
                assert 0 < chars <= len(self.text)
                self.text = self.text[:-chars]
            case {"type": "source-document", "providerMetadata": {"keepsake": metadata}}:
                self.sources[metadata["number"]] = chunk["sourceId"]


def show(stream: bytes) -> list[Screen]:
    """Return what a client shows of each voice."""
    screens = [Screen() for _ in MODELS]
    for chunk in parse_chunks(stream):
        match chunk:
            case {"type": "data-voice", "data": {"voice": voice, "chunk": inner}} if voice:
                screens[voice].take(inner)
            case {"type": _}:
                screens[0].take(chunk)
    return screens


def encode_events(events: Sequence[SequencedEvent], *, after_seq: int = 0) -> bytes:
    async def iterate() -> AsyncGenerator[SequencedEvent, None]:
        for numbered in events:
            yield numbered

    async def read() -> bytes:
        stream = encode(iterate(), run_id="r1", encode_message=to_message_json, after_seq=after_seq)
        return b"".join([frame async for frame in stream])

    return anyio.run(read)


def connect(events: Sequence[RunEvent], after_seq: int = 0) -> bytes:
    """Return what a client receives that connects when these events are in the journal."""
    merged = merge_text(events, first=1, split_after_seq=after_seq)
    return encode_events(list(merged), after_seq=after_seq)


WORDS = st.text("a 🚆[1]\n", min_size=1, max_size=6)


@st.composite
def list_runs(draw: st.DrawFn) -> list[RunEvent]:
    """Draw a run of one or two voices that write, take back, and are interrupted by words of ours."""
    count = draw(st.integers(1, len(MODELS)))
    events: list[RunEvent] = [VoicesStarted(MODELS)] if count > 1 else []
    lengths = [0] * count
    for _ in range(draw(st.integers(0, 12))):
        voice = draw(st.integers(0, count - 1))
        event = draw(
            st.one_of(
                st.builds(AnswerText, WORDS),
                st.builds(OwnText, WORDS),
                st.builds(ReasoningText, WORDS),
                st.just(Stage("thinking")),
                st.just(ToolStarted(call_id="c1", tool="search", arguments="{}")),
                *([st.builds(AnswerWithdrawn, st.integers(1, n))] if (n := lengths[voice]) else []),
            )
        )
        if isinstance(event, AnswerText):
            lengths[voice] += len(event.text)
        if isinstance(event, AnswerWithdrawn):
            lengths[voice] -= event.chars
        events.append(tag_event(event, voice))
    return events


def store(events: Sequence[RunEvent]) -> list[Message]:
    run = replace(RUN, voices=MODELS)
    return [
        build_message(run, select_voice(events, voice), "completed", AT, voice=voice)
        for voice, _ in enumerate(MODELS)
    ]


@given(list_runs(), st.data())
def test_a_client_shows_what_is_stored_wherever_it_breaks_off_and_resumes_x33_x36(
    events: list[RunEvent], data: st.DataObject
) -> None:
    received, last_seq = b"", 0
    for end in sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=4))):
        stream = connect(events[:end], last_seq)
        cut = data.draw(st.integers(0, len(stream)))
        whole, seq = take_whole_events(stream[:cut])
        received, last_seq = received + whole, seq or last_seq
    received += connect([*events, RunEnded(store(events)[0], "completed")], last_seq)

    shown = [screen.text for screen in show(received)]
    assert shown == [message.marked_text for message in store(events)]


@given(list_runs())
def test_what_is_the_models_of_an_answer_is_what_is_left_of_its_words_n7(
    events: list[RunEvent],
) -> None:
    """Taken back is what came last, whoever wrote it."""
    for voice, message in enumerate(store(events)):
        letters: list[tuple[str, bool]] = []
        for event in select_voice(events, voice):
            if isinstance(event, AnswerText):
                letters += [(letter, isinstance(event, OwnText)) for letter in event.text]
            if isinstance(event, AnswerWithdrawn):
                del letters[-event.chars :]
        model_text = "".join(letter for letter, is_ours in letters if not is_ours)
        is_partly_ours = any(is_ours for _, is_ours in letters)

        assert message.text == "".join(letter for letter, _ in letters)
        assert message.model_text == (model_text.strip() if is_partly_ours else None)


@given(list_runs(), st.lists(st.integers(0, 12), max_size=3))
def test_a_run_that_is_closed_from_its_journal_stores_what_its_readers_see_x36(
    events: list[RunEvent], cuts: list[int]
) -> None:
    anyio.run(check_closed_run, build_chat_fixture(MemoryDatabase()), events, cuts)


async def check_closed_run(
    world: ChatFixture, events: Sequence[RunEvent], cuts: Sequence[int]
) -> None:
    deps = world.deps()
    turn = await prepare_turn(deps, ADA, Question("When?"))
    voices = MODELS if VoicesStarted(MODELS) in events else ()
    run, runs = replace(build_run(deps, turn), voices=voices), deps.stores.runs
    await runs.begin(ADA, run, turn.session, turn.question)
    await runs.append(ADA, run, *build_batches(run, events, cuts))

    lapsed = await runs.get(ADA, run.id, world.clock.now())
    assert lapsed is not None
    await close_as_interrupted(runs, ADA, lapsed, now=world.clock.now())

    stored = [numbered async for numbered in stream_events(deps, ADA, run.id)]
    end = stored[-1].event
    assert isinstance(end, RunEnded)
    frames = encode(iterate(stored), run_id="r1", encode_message=to_message_json)
    screens = show(b"".join([frame async for frame in frames]))
    main = await deps.stores.messages.get(ADA, MessageId(run.id))
    assert end.message == main
    shown = {screen.text for screen in screens[: len(voices) or 1]}
    others = await deps.stores.alternatives.list_all(ADA, main.id) if voices else []
    assert shown == {message.marked_text for message in (main, *others)}


async def iterate(events: Sequence[SequencedEvent]) -> AsyncGenerator[SequencedEvent, None]:
    for numbered in events:
        yield numbered


def build_batches(run: Run, events: Sequence[RunEvent], cuts: Sequence[int]) -> list[Batch]:
    """Cut a journal into the batches in which it was stored."""
    edges = sorted({0, len(events), *(min(cut, len(events)) for cut in cuts)})
    return [
        Batch(position=start + 1, events=events[start:end], last_seq=end, writer=run.writer)
        for start, end in pairwise(edges)
    ]


PIECES = st.lists(
    st.sampled_from(
        [
            "Ann",
            " [1]",
            "[2]",
            "[3",
            "][1",
            "[9]",
            "`",
            "\n",
            "https://evil",
            ".example/a ",
            "![",
            "(",
        ]
    ),
    max_size=6,
)


@given(PIECES, PIECES, PIECES, st.sampled_from(["a call", "the answer"]))
def test_an_answer_is_stored_as_if_its_thought_had_been_known_as_one_n1(
    intro: list[str], thought: list[str], answer: list[str], before: str
) -> None:
    """Text, sources and their numbers, reasoning, and what the model reads next."""

    def think(*thinking: ModelEvent) -> tuple[list[RunEvent], ScriptedModel]:
        call = [*map(TextDelta, intro), *script_calls(("find", {}))]
        last = script_answer(*answer)
        if before == "a call":
            return play([script_calls(("find", {})), [*thinking, *call], last])
        return play([script_calls(("find", {})), call, [*thinking, *last]])

    late_events, late_model = think(*map(TextDelta, thought), TextWithdrawn())
    events, model = think(*map(ReasoningDelta, thought))

    message = build_message(RUN, late_events, "completed", AT)
    assert message == build_message(RUN, events, "completed", AT)
    assert late_model.calls == model.calls
    [screen, _] = show(connect(late_events))
    shown = [screen.sources[number] for number in range(1, len(message.cards) + 1)]
    assert (screen.text, shown) == (message.marked_text, [card.id for card in message.cards])


def play(turns: list[ScriptedTurn]) -> tuple[list[RunEvent], ScriptedModel]:
    async def collect() -> tuple[list[RunEvent], ScriptedModel]:
        with ScriptedModel(*turns) as model:
            agent = build_agent(model, build_tool("find", return_card_numbers))
            return await collect_events(agent), model

    return anyio.run(collect)


def test_a_mark_without_words_before_it_takes_nothing_back_n1() -> None:
    events, _ = play([[TextWithdrawn(), *script_answer("On Tuesday.")]])

    assert not [e for e in events if isinstance(e, AnswerWithdrawn | ReasoningText)]
