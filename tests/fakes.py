"""Test doubles: clocks, ids, tasks, events, pushes, the model and documents."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self, TypeVar

from pydantic import ValidationError

from functions.chat.loop.call_review import CallReview
from functions.chat.loop.tool_policy import ToolPolicy
from functions.chat.tools.parsed_call import ParsedCall
from functions.chat.tools.toolkit import ToolOutcome
from shared.adapters.blob_rules import check_path, check_size
from shared.data.search.question_meaning import QuestionMeaning, QuestionMeanings
from shared.data.store.codec import type_adapter
from shared.data.stores import Stores
from shared.domain.apps.tool_data import ToolData
from shared.domain.chats.embed import EmbedRef
from shared.domain.chats.safety import Moderation
from shared.domain.conversations.speech import Transcription, Utterance, Voice
from shared.domain.errors import ModelFailed, NotFound, Unavailable
from shared.domain.ids import UserId
from shared.domain.models.model import (
    ModelCallFinished,
    ModelEvent,
    ModelFacts,
    ModelMessage,
    ModelRole,
    Prompt,
    TextDelta,
    ToolCall,
    ToolCallRequested,
    ToolSpec,
    Urgency,
)
from shared.domain.store.documents import Document, Query, Write
from shared.domain.value import value
from shared.ports import Documents, PushMessage, PushOutcome, Transaction

T = TypeVar("T")


@dataclass
class FixedClock:
    """A clock that stands still until it is advanced."""

    time: datetime = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
    _wakeups: list[asyncio.Event] = field(default_factory=list)

    def now(self) -> datetime:
        return self.time

    async def sleep(self, seconds: float) -> None:
        due = self.time + timedelta(seconds=seconds)
        while self.time < due:
            wakeup = asyncio.Event()
            self._wakeups.append(wakeup)
            await wakeup.wait()

    def advance(self, **duration: float) -> None:
        self.time += timedelta(**duration)
        wakeups, self._wakeups = self._wakeups, []
        for wakeup in wakeups:
            wakeup.set()


@dataclass
class AutoAdvanceClock(FixedClock):
    """A clock on which every sleep ends at once; `sleeps_s` lists how long each was."""

    sleeps_s: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.sleeps_s.append(seconds)
        self.advance(seconds=seconds)


@dataclass
class InstantSleepClock(FixedClock):
    """A clock on which every sleep ends at once, after other tasks ran."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.time += timedelta(seconds=seconds)


@dataclass
class CountingIds:
    """id0001, id0002, …"""

    prefix: str = "id"
    count: int = field(default=0)

    def __call__(self) -> str:
        self.count += 1
        return f"{self.prefix}{self.count:04d}"


class CreatedTask(NamedTuple):
    target: str
    name: str
    body: Mapping[str, Any]
    at: datetime | None


@dataclass
class RecordingTasks:
    """Record tasks; a name is taken once, as by Cloud Tasks."""

    created: list[CreatedTask] = field(default_factory=list)

    async def create(
        self, target: str, name: str, body: Mapping[str, Any], *, at: datetime | None = None
    ) -> None:
        if all(task.name != name for task in self.created):
            self.created.append(CreatedTask(target, name, body, at))

    def list_by_target(self, target: str) -> list[CreatedTask]:
        return [task for task in self.created if task.target == target]


@dataclass
class RecordingEvents:
    """Record what is published."""

    published: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    async def publish(self, topic: str, event: Mapping[str, Any]) -> None:
        self.published.append((topic, event))

    def list_by_topic(self, topic: str) -> list[Mapping[str, Any]]:
        return [event for name, event in self.published if name == topic]


@dataclass
class MemoryBlobs:
    """Keep files in memory, by path."""

    files: dict[str, bytes] = field(default_factory=dict)

    async def write(self, path: str, content: bytes, *, media_type: str) -> None:
        check_path(path)
        check_size(content)
        self.files[path] = bytes(content)

    async def read(self, path: str) -> bytes:
        check_path(path)
        if path not in self.files:
            raise NotFound("There is no such file")
        return self.files[path]

    async def delete(self, paths: Sequence[str]) -> None:
        for path in paths:
            check_path(path)
        for path in paths:
            self.files.pop(path, None)

    async def delete_tree(self, prefix: str) -> None:
        check_path(prefix)
        await self.delete([path for path in self.files if path.startswith(f"{prefix}/")])


@dataclass
class ScriptedTranscriber:
    """Answer each piece of sound with the next lines, or raise what stands there; record what came.

    A line is speaker, start, end and text.
    """

    script: list[Any] = field(default_factory=list)
    voices: list[list[str]] = field(default_factory=list)
    hints: list[tuple[str | None, str]] = field(default_factory=list)
    name: str = "scripted"
    is_ready: bool = True
    tells_speakers: bool = True

    async def transcribe(
        self,
        sound: bytes,
        *,
        language: str | None = None,
        voices: Sequence[Voice] = (),
        hint: str = "",
        is_draft: bool = False,
    ) -> Transcription:
        self.voices.append([voice.name for voice in voices])
        self.hints.append((language, hint))
        answer = self.script.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Transcription(
            utterances=tuple(
                Utterance(text=text, start=start, end=end, speaker=speaker)
                for speaker, start, end, text in answer
            )
        )


@value
class UnmaskedModels:
    """The models of a server that masks nothing; `urgencies` are those that were asked for."""

    model: Any
    urgencies: list[Urgency] = field(default_factory=list)

    def name(self, role: ModelRole) -> str:
        return str(self.model.name(role))

    def describe(self, role: ModelRole) -> ModelFacts:
        facts: ModelFacts = self.model.describe(role)
        return facts

    def check_room(self, uid: UserId) -> None:
        pass

    def is_short(self) -> bool:
        return False

    def for_user(
        self, uid: UserId, *, is_masked: bool, chat: str = "", urgency: Urgency = "now"
    ) -> Any:
        self.urgencies.append(urgency)
        return self.model


@dataclass
class ScriptedModerator:
    """Rate each text as the next rating says, or raise it; 0 once there is none. Record the texts.

    A number is a rating of harm. None tells that nobody rates texts.
    """

    ratings: list[float | Moderation | Exception | None] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    async def moderate(self, text: str) -> Moderation | None:
        self.texts.append(text)
        rating = self.ratings.pop(0) if self.ratings else 0.0
        if isinstance(rating, Exception):
            raise rating
        return Moderation(harm=rating) if isinstance(rating, float | int) else rating


@dataclass
class RecordingToolbox:
    """Record calls, and answer each with a fixed text, or fixed data."""

    answer: str | ToolData = "done"
    calls: list[tuple[str, str, str, Mapping[str, Any]]] = field(default_factory=list)
    call_ids: list[str] = field(default_factory=list)

    async def call(
        self,
        uid: UserId,
        app_id: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str,
        pin: str,
    ) -> ToolData:
        self.calls.append((uid, app_id, tool, arguments))
        self.call_ids.append(call_id)
        return self.answer if isinstance(self.answer, ToolData) else ToolData(content=self.answer)

    async def call_service(
        self,
        uid: UserId,
        service: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str,
    ) -> ToolData:
        return await self.call(uid, service, tool, arguments, call_id=call_id, pin="")

    async def disconnect_all(self, uid: UserId) -> None:
        raise AssertionError("a chat disconnects nobody")


@dataclass
class RecordingPush:
    """Record pushes, and answer by the token sets; `is_down` sends and then loses the answer."""

    sent_messages: list[tuple[tuple[str, ...], PushMessage]] = field(default_factory=list)
    dead_tokens: frozenset[str] = frozenset()
    retryable_tokens: frozenset[str] = frozenset()
    refused_tokens: frozenset[str] = frozenset()
    is_down: bool = False

    async def send(self, uid: UserId, tokens: Sequence[str], message: PushMessage) -> PushOutcome:
        self.sent_messages.append((tuple(tokens), message))
        if self.is_down:
            raise Unavailable("sent, and the answer was lost")
        failing_tokens = self.dead_tokens | self.retryable_tokens | self.refused_tokens
        return PushOutcome(
            sent_tokens=[token for token in tokens if token not in failing_tokens],
            dead_tokens=[token for token in tokens if token in self.dead_tokens],
            retryable_tokens=[token for token in tokens if token in self.retryable_tokens],
            refusal_reasons={
                token: "SenderIdMismatchError" for token in tokens if token in self.refused_tokens
            },
        )

    @property
    def reached_tokens(self) -> list[str]:
        """The tokens that were sent to, in order."""
        return [token for tokens, _ in self.sent_messages for token in tokens]


ScriptedStep = ModelEvent | Exception | Callable[[], Awaitable[Any]]
"""An event is yielded, an exception raised, a function awaited (`gate.wait` holds the stream)."""
ScriptedTurn = Sequence[ScriptedStep]


def script_answer(*pieces: str) -> ScriptedTurn:
    """Script a turn that answers."""
    return (*map(TextDelta, pieces), ModelCallFinished(reason="stop", model="scripted"))


def script_calls(*requests: tuple[str, Mapping[str, Any]], text: str = "") -> ScriptedTurn:
    """Script a turn that asks for tools, `(name, arguments)` each; ids are call_0, call_1, …"""
    tool_calls = [
        ToolCallRequested(ToolCall(id=f"call_{n}", name=name, arguments=json.dumps(arguments)))
        for n, (name, arguments) in enumerate(requests)
    ]
    text_deltas = [TextDelta(text)] if text else []
    return (*text_deltas, *tool_calls, ModelCallFinished(reason="tool_calls", model="scripted"))


@dataclass(frozen=True, slots=True)
class ModelCall:
    """The arguments of one stream."""

    role: ModelRole
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...]


class ScriptedMeanings(QuestionMeanings):
    """Knows how much some texts lean to danger, and of others nothing, as where no encoder runs."""

    def __init__(self, danger: Mapping[str, float] | None = None) -> None:
        super().__init__()
        self.danger = dict(danger or {})

    async def read(self, uid: UserId, question: str) -> QuestionMeaning | None:
        if question not in self.danger:
            return None
        return QuestionMeaning(kinds={}, danger=self.danger[question])


class ScriptedModel:
    """A ChatModel that plays `turns` in order and `answers` by prompt name, each exactly once.

    `by_role` has the turns of models that answer at once, whose order nobody knows. A question is read as harmless
    where no answer is left for "chat/reading", and that is no part of the script.

    As a context manager (or by `verify()`), fails on scripts that were not played and on calls
    without a script, even where the code under test caught that failure.
    """

    def __init__(
        self,
        *turns: ScriptedTurn,
        answers: Mapping[str, Sequence[object | Exception]] | None = None,
        facts: ModelFacts | None = None,
        by_role: Mapping[ModelRole, Sequence[ScriptedTurn]] | None = None,
    ) -> None:
        self.calls: list[ModelCall] = []
        self.prompts: list[tuple[ModelRole, Prompt]] = []
        self.open_streams = 0
        self.facts = facts or ModelFacts(window_tokens=128_000)
        self._turns = list(turns)
        self._turns_by_role = {role: list(queue) for role, queue in (by_role or {}).items()}
        self._answers = {name: list(queue) for name, queue in (answers or {}).items()}
        self._unexpected: list[str] = []

    def name(self, role: ModelRole) -> str:
        return f"scripted-{role}"

    def describe(self, role: ModelRole) -> ModelFacts:
        return self.facts

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        self.calls.append(ModelCall(role, tuple(messages), tuple(tools)))
        turn = self._pop(self._turns_by_role.get(role, self._turns), f"stream for {role}")
        self.open_streams += 1
        try:
            async with aclosing(_play(turn)) as events:
                yield events
        finally:
            self.open_streams -= 1

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        if prompt.name == "chat/reading" and not self._answers.get(prompt.name):
            harmless: T = type_adapter(schema).validate_python({"danger": 0})
            return harmless
        self.prompts.append((role, prompt))
        answer = self._pop(self._answers.get(prompt.name, []), f"structured {prompt.name!r}")
        if isinstance(answer, Exception):
            raise answer
        try:
            value: T = type_adapter(schema).validate_python(answer)
        except ValidationError as error:
            raise ModelFailed("the scripted answer does not fit the schema") from error
        return value

    def verify(self) -> None:
        queues: list[Sequence[object]] = [
            self._turns,
            *self._turns_by_role.values(),
            *self._answers.values(),
        ]
        unused = sum(map(len, queues))
        assert not self._unexpected, f"unexpected model calls: {self._unexpected}"
        assert not unused, f"{unused} scripted model calls never came"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.verify()

    def _pop(self, queue: list[Any], what: str) -> Any:
        if not queue:
            self._unexpected.append(what)
            raise AssertionError(f"nobody scripted this model call: {what}")
        return queue.pop(0)


class DerivingModel(ScriptedModel):
    """A scripted model that writes `derived` as often as it is asked for arguments from a message alone.

    It rates every message as harmless.
    """

    def __init__(self, *turns: ScriptedTurn, derived: str = "") -> None:
        super().__init__(*turns)
        self._any_time = {"chat/derive": {"arguments": derived}, "chat/rating": {}}

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        if prompt.name in self._any_time:
            self._answers[prompt.name] = [self._any_time[prompt.name]]
        return await super().complete_structured(role, prompt, schema)


async def _play(turn: ScriptedTurn) -> AsyncGenerator[ModelEvent, None]:
    for step in turn:
        if isinstance(step, Exception):
            raise step
        if isinstance(step, ModelEvent):
            yield step
        else:
            await step()


class CountingDocuments:
    """Documents that count reads and round trips: concurrent reads are one round trip.

    `documents` is the number of reads that Firestore would bill.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._in_flight = 0
        self.reads = 0
        self.rounds = 0
        self.documents = 0

    async def get(self, path: str) -> Document | None:
        return await self._count_read(self._documents.get(path))

    async def get_many(
        self, paths: Sequence[str], *, known: Mapping[str, str] | None = None
    ) -> list[Document | None]:
        return await self._count_read(self._documents.get_many(paths, known=known))

    async def query(self, query: Query) -> list[Document]:
        return await self._count_read(self._documents.query(query))

    async def count(self, query: Query) -> int:
        return await self._count_read(self._documents.count(query))

    async def sum(self, query: Query, fields: Sequence[str]) -> list[int]:
        return await self._count_read(self._documents.sum(query, fields))

    async def write(self, *writes: Write) -> None:
        await self._documents.write(*writes)

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        return await self._count_read(self._documents.transaction(work))

    async def delete_tree(self, path: str) -> int:
        return await self._documents.delete_tree(path)

    async def _count_read(self, read: Awaitable[T]) -> T:
        self.reads += 1
        self.rounds += self._in_flight == 0
        self._in_flight += 1
        try:
            result = await read
        finally:
            self._in_flight -= 1
        self.documents += max(len(result), 1) if isinstance(result, list) else 1
        return result


def replace_stores(stores: Stores, **replacements: Any) -> Stores:
    """Return the same stores but for the `replacements`, by name."""
    changed_stores = Stores(stores.documents)
    vars(changed_stores).update(replacements)
    return changed_stores


class SilentConfirmer:
    """Ask nobody: no call of the test needs a question."""

    max_questions = 0

    async def request(self, *_: object) -> None:
        raise AssertionError("nobody is asked")

    async def wait_for_decision(self, *_: object) -> None:
        raise AssertionError("nobody was asked")


async def keep_nothing(
    _calls: Sequence[ParsedCall], _outcomes: Sequence[ToolOutcome]
) -> Sequence[EmbedRef]:
    """Keep no results of tools."""
    return ()


async def admit_all(bits_by_maker: Mapping[str, float], **_: bool) -> frozenset[str]:
    return frozenset(bits_by_maker)


def build_silent_review(question: str = "A question") -> CallReview:
    """Build the review of a turn in which nobody is asked."""
    policy = ToolPolicy(question, local_time=FixedClock().now())
    return CallReview(policy=policy, confirmer=SilentConfirmer(), spend_bits=admit_all)
