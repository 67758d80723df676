"""ChatModel on Chat Completions, at any address that speaks it; how servers differ stands in shared/models/.

Also called: LLM provider, LLM client.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

import anyio
import httpx

from shared import telemetry
from shared.adapters.cloud.model_spans import ModelCallSpan, open_model_call
from shared.adapters.cloud.openai_http import OpenaiHttp
from shared.adapters.system_clock import SystemClock
from shared.domain.errors import ModelFailed, TierRefused, Unavailable
from shared.domain.local_address import is_local_url
from shared.domain.models.model import (
    AssistantTurn,
    ModelCallFinished,
    ModelEvent,
    ModelFacts,
    ModelMessage,
    ModelRole,
    Prompt,
    TextDelta,
    TextWithdrawn,
    ToolCallRequested,
    ToolSpec,
    Usage,
    UserText,
)
from shared.domain.models.model_facts import find_model_facts
from shared.domain.models.token_prices import DEFAULT_TOKEN_PRICES, TokenPrices
from shared.domain.models.usage_cost import price_usage
from shared.domain.value import value
from shared.model_meter import record_model_call
from shared.models.answers import describe_problems, is_wrapped, parse_answer
from shared.models.fit_data import fit_data
from shared.models.known_models import KnownModel, KnownModels, ModelKey, Step
from shared.models.ladder import Answering, Attempt, Ladder, count_request_tokens
from shared.models.reading_speed import ReadingSpeeds
from shared.models.refusals import Refused
from shared.models.requests import ModelRequest, build_answer_format, build_prompt_messages
from shared.models.stream import StreamReader
from shared.models.windows import (
    MARGIN_SHARE,
    compute_answer_tokens,
    compute_data_tokens,
    count_data_tokens,
)
from shared.ports import Clock

T = TypeVar("T")

_OPENAI_HOST = "api.openai.com"
_CHUNK_TIMEOUT_S = 60.0
"""Longest time between two chunks; the caller bounds the whole turn."""
LOCAL_CHUNK_TIMEOUT_S = 900.0
"""A processor without a graphics card reads some hundred tokens a second, and says nothing before its first."""
_FLEX_TIMEOUT_S = 90.0
"""Flex processing is slower; two attempts and one at the usual price end before a request does."""
_FLEX_RETRY_S = 60.0
"""Longer than a caller waits: a refusal stays one for a while."""
_DRAIN_TIMEOUT_S = 0.1
_MAX_ANSWER_TOKENS = 16_000
_LEAST_ANSWER_SHARE = 8
"""Of a window; a chat leaves so much of it free for the answer."""
_THOUGHT_TOKENS = 8_000
"""Room beside an answer for the thoughts of a model that has any."""
_MAX_SHARE = 8
"""Data that is too long is halved until an eighth of what should fit is left."""
_REPAIR = (
    "This is not the JSON object that was asked for:\n{problems}\n"
    "Answer again, with one JSON object that fits the schema and nothing else."
)
_SCHEMA_IN_PROMPT: frozenset[Step] = frozenset(("text_answers",))


@value
class _StructuredAnswer:
    """What a model wrote where a value was asked for."""

    text: str
    reasoning: str
    end: ModelCallFinished


class OpenaiModel:
    """Makes one attempt a call, at one address; what its server refuses is asked otherwise."""

    def __init__(
        self,
        *,
        api_key: str | None,
        base_url: str,
        models: Mapping[str, str],
        windows: Mapping[str, int] | None = None,
        prices: TokenPrices = DEFAULT_TOKEN_PRICES,
        is_flex: bool = False,
        marks_prefixes: bool = False,
        known: KnownModels | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Without a key, every call raises ModelFailed, because some roles are optional.

        `windows` are tokens by role, which come before what `known` holds of the models. With `is_flex`,
        calls ask for OpenAI's flex processing and raise TierRefused where it is refused, as for some models.
        With `marks_prefixes`, they say what its cache shall keep; other servers may refuse that.
        """
        self._clock = clock or SystemClock()
        self._is_local = is_local_url(base_url)
        usual_timeout_s = LOCAL_CHUNK_TIMEOUT_S if self._is_local else _CHUNK_TIMEOUT_S
        self._http = OpenaiHttp(
            api_key=api_key,
            base_url=base_url,
            timeout_s=_FLEX_TIMEOUT_S if is_flex else usual_timeout_s,
            clock=self._clock,
        )
        self._base_url = base_url
        self._is_flex = is_flex
        self._marks_prefixes = marks_prefixes
        self._models = models
        self._windows = windows or {}
        self._prices = prices
        self._known = known or KnownModels()
        self._ladders: dict[str, Ladder] = {}
        self._speeds = ReadingSpeeds()

    def name(self, role: ModelRole) -> str:
        return self._models[role]

    def describe(self, role: ModelRole) -> ModelFacts:
        """Return what a model takes: by setting, else as its server told, else by its name."""
        facts, known = find_model_facts(self.name(role)), self._get_known(role)
        now = self._clock.now()
        images = facts.takes_images if known.takes_images is None else known.takes_images
        refuses_images = "no_pictures" in known.list_steps(now)
        return ModelFacts(
            window_tokens=self._windows.get(role) or known.find_window(now) or facts.window_tokens,
            takes_images=images and not refuses_images,
            is_local=self._is_local,
            reads_per_s=self._speeds.get(self.name(role)),
            places=known.places,
            parameters=known.parameters,
        )

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        request = self._build_request(role, messages, tools=tools, max_tokens=_MAX_ANSWER_TOKENS)
        request = replace(request, max_tokens=self._bound_words(role, request))
        async with aclosing(self._stream_events(role, request)) as events:
            yield events

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        share = 1
        while True:
            fitted = self._fit(role, prompt, share=share)
            try:
                return await self._answer(role, fitted, schema)
            except ModelFailed as error:
                is_long = error.reason == "too_long" or (error.may_be_too_long and share == 1)
                if prompt.is_divisible or not is_long or share >= _MAX_SHARE:
                    raise
            share *= 2

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _answer(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        """Ask for a value; what does not fit the schema is asked for once more, with the schema in words."""
        messages = build_prompt_messages(prompt)
        request = self._build_request(
            role,
            messages,
            answer_format=build_answer_format(prompt.name, schema),
            max_tokens=self._bound_answer(role, prompt.answer_tokens),
        )
        answer: _StructuredAnswer | None = None
        try:
            answer = await self._collect(role, prompt, request)
            if is_wrapped(answer.text):
                self._known.change(
                    self._build_key(role), lambda known: known.notice("wrapped_json")
                )
            return _parse(answer, prompt, schema, max_tokens=request.max_tokens)
        except ModelFailed as error:
            if error.reason != "malformed_answer":
                raise
            repair = self._build_repair(role, request, answer, schema)
        second = await self._collect(role, prompt, repair, steps=_SCHEMA_IN_PROMPT)
        try:
            return _parse(
                second,
                prompt,
                schema,
                max_tokens=repair.max_tokens,
                may_stop_early=answer is not None
                and answer.end.reason == second.end.reason == "stop",
            )
        except ModelFailed as error:
            ends = {each.end.reason for each in (answer, second) if each is not None}
            if prompt.is_divisible and "length" in ends:
                message = f"the answer to {prompt.name!r} is longer than it may be"
                raise ModelFailed(message, reason="too_long") from error
            raise

    def _build_repair(
        self, role: ModelRole, request: ModelRequest, answer: _StructuredAnswer | None, schema: type
    ) -> ModelRequest:
        """Ask for the same again: with room, where thoughts took it, else with what was wrong."""
        if answer is None:
            return request
        if answer.end.reason != "stop":
            return replace(
                request, max_tokens=self._bound_answer(role, 2 * (request.max_tokens or 0))
            )
        problems = describe_problems(answer.text, schema)
        said = AssistantTurn(text=answer.text or "(nothing)")
        wanted = UserText(text=_REPAIR.format(problems=problems), is_fleeting=True)
        return replace(request, messages=[*request.messages, said, wanted])

    async def _collect(
        self,
        role: ModelRole,
        prompt: Prompt,
        request: ModelRequest,
        *,
        steps: frozenset[Step] = frozenset(),
    ) -> _StructuredAnswer:
        """Read a whole structured answer. Raises Unavailable where it broke off."""
        text: list[str] = []
        arguments = ""
        thoughts: list[str] = []
        async with aclosing(self._stream_events(role, request, steps, thoughts)) as events:
            async for event in events:
                match event:
                    case TextDelta(piece):
                        text.append(piece)
                    case TextWithdrawn():
                        text.clear()
                    case ToolCallRequested(call):  # of a tool that is named like the schema
                        arguments = call.arguments
                    case ModelCallFinished():
                        finish_event = event
        _record(role, prompt, finish_event)
        return _StructuredAnswer(
            text="".join(text) or arguments,
            reasoning="".join(thoughts),
            end=finish_event,
        )

    async def _stream_events(
        self,
        role: ModelRole,
        request: ModelRequest,
        steps: frozenset[Step] = frozenset(),
        thoughts: list[str] | None = None,
    ) -> AsyncGenerator[ModelEvent, None]:
        attempt, refusal = None, None
        with open_model_call("chat", self.name(role)) as call:
            while True:
                ladder, sent, first_word = self._get_ladder(role), self._clock.now(), None
                async with ladder.open(request, steps, after=attempt, refusal=refusal) as answering:
                    reader = self._build_reader(role, answering.attempt)
                    try:
                        async with aclosing(self._read(answering, reader, call)) as events:
                            async for event in events:
                                first_word = first_word or self._clock.now()
                                if isinstance(event, ModelCallFinished):
                                    self._note_speed(role, event.usage, sent, first_word)
                                yield self._price(role, event)
                    except Refused as error:  # said in the stream, before the first word
                        attempt, refusal = answering.attempt, error.refusal
                        continue
                self._learn(role, reader)
                if thoughts is not None:
                    thoughts.append(reader.reasoning)
                return

    def _note_speed(
        self, role: ModelRole, usage: Usage, sent: datetime, first_word: datetime
    ) -> None:
        """Note how fast a model on this machine reads; elsewhere a request hardly waits for that."""
        if self._is_local:
            self._speeds.note(self.name(role), usage, sent, first_word)

    async def _read(
        self, answering: Answering, reader: StreamReader, call: ModelCallSpan
    ) -> AsyncGenerator[ModelEvent, None]:
        left_out: Sequence[ModelEvent] = answering.attempt.left_out
        try:
            async for chunk in answering.chunks:
                call.mark_chunk()
                for event in (*left_out, *reader.feed(chunk)):
                    yield call.record(event)
                left_out = ()
                if reader.is_done:
                    break
        except httpx.TransportError:
            for event in reader.give_up():
                yield call.record(event)
            raise
        await _drain(answering.chunks)
        for event in reader.flush():
            yield call.record(event)

    def _build_request(
        self,
        role: ModelRole,
        messages: Sequence[ModelMessage],
        *,
        max_tokens: int,
        **parts: Any,
    ) -> ModelRequest:
        host = urlsplit(self._base_url).hostname
        return ModelRequest(
            model=self.name(role),
            messages=messages,
            max_tokens=max_tokens,
            bound_field="max_completion_tokens" if host == _OPENAI_HOST else "max_tokens",
            marks_prefixes=self._marks_prefixes,
            place=self._choose_place(role, is_structured="answer_format" in parts),
            **parts,
        )

    def _choose_place(self, role: ModelRole, *, is_structured: bool) -> int | None:
        """Keep notes and readings from the place whose cache holds the beginning of a chat."""
        places = self._get_known(role).places or 0
        if places < 2:
            return None
        return places - 1 if is_structured else 0 if places == 2 else None

    def _build_reader(self, role: ModelRole, attempt: Attempt) -> StreamReader:
        request, known = attempt.request, self._get_known(role)
        calls = [
            call
            for message in request.messages
            if isinstance(message, AssistantTurn)
            for call in message.tool_calls
        ]
        return StreamReader(
            request.model,
            names=[tool.name for tool in request.tools],
            earlier_ids=[call.id for call in calls],
            reads_calls=not known.calls_natively,
            is_quoted=lambda text: any(text in message.text for message in request.messages),
            thinks_first=known.thinks_first,
            may_be_empty=request.answer_format is not None or _has_spoken(request.messages),
        )

    def _learn(self, role: ModelRole, reader: StreamReader) -> None:
        """Remember how this model writes, so that its next answer is read rightly from the first word."""
        known = self._get_known(role)
        is_still = known.thinks_first and reader.thinks_first is not False
        learned = replace(
            known,
            thinks=known.thinks or bool(reader.reasoning),
            thinks_first=reader.has_withdrawn or is_still,
            calls_natively=known.calls_natively or reader.has_native_calls,
            quirks=known.quirks | reader.quirks,
        )
        self._known.set(self._build_key(role), learned)

    def _bound_words(self, role: ModelRole, request: ModelRequest) -> int:
        """Return what an answer in words may have: what the request leaves of a small window."""
        thoughts = _THOUGHT_TOKENS if self._get_known(role).thinks else 0
        window, needed = self.describe(role).window_tokens, _MAX_ANSWER_TOKENS + thoughts
        least = window // _LEAST_ANSWER_SHARE
        if least >= needed:
            return needed
        left = window - window // MARGIN_SHARE - count_request_tokens(request)
        return max(least, min(needed, left))

    def _bound_answer(self, role: ModelRole, needed_tokens: int) -> int:
        """Return what an answer may have, with its thoughts: never more than a part of the window."""
        thoughts = _THOUGHT_TOKENS if self._get_known(role).thinks else 0
        window = self.describe(role).window_tokens
        return compute_answer_tokens(window, needed_tokens + thoughts)

    def _fit(self, role: ModelRole, prompt: Prompt, *, share: int) -> Prompt:
        """Cut the data of a prompt to this share of what the window holds. Raises ModelFailed."""
        window = self.describe(role).window_tokens
        room = compute_data_tokens(window, prompt.instructions, prompt.answer_tokens) // share
        if prompt.is_divisible:
            if share == 1 and count_data_tokens(prompt.data) > max(room, 0):
                message = f"the data of {prompt.name!r} is more than the window holds"
                raise ModelFailed(message, reason="too_long")
            return prompt
        if share > 1:
            room = min(room, count_data_tokens(prompt.data) // share)
        return replace(prompt, data=fit_data(prompt.data, max(room, 0)))

    def _get_ladder(self, role: ModelRole) -> Ladder:
        name = self.name(role)
        if name not in self._ladders:
            key = self._build_key(role)
            self._ladders[name] = Ladder(self._post, key, self._known, self._clock)
        return self._ladders[name]

    def _build_key(self, role: ModelRole) -> ModelKey:
        return self._base_url, self.name(role)

    def _get_known(self, role: ModelRole) -> KnownModel:
        return self._known.get(self._build_key(role))

    @asynccontextmanager
    async def _post(self, body: Mapping[str, Any]) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open the stream. A model that knows no flex processing is asked without it by another."""
        tier = {"service_tier": "flex"} if self._is_flex else {}
        try:
            async with self._http.stream("chat/completions", {**body, **tier}) as chunks:
                yield chunks
        except Refused as error:
            if (
                not self._is_flex
                or error.refusal.find_reason() != "other"
                or error.refusal.status >= 429
            ):
                raise
            raise TierRefused("flex processing was refused", retry_after_s=_FLEX_RETRY_S) from None

    def _price(self, role: ModelRole, event: ModelEvent) -> ModelEvent:
        """Add the cost to the end of a call: by the model that answered, or that was asked for."""
        if not isinstance(event, ModelCallFinished):
            return event
        names = (event.model, self.name(role))
        usage: Usage = price_usage(self._prices, names, event.usage, is_flex=event.is_flex)
        return replace(event, usage=usage)


def _has_spoken(messages: Sequence[ModelMessage]) -> bool:
    """Tell whether the model has said something in this turn already, beside its calls."""
    for message in reversed(messages):
        if isinstance(message, AssistantTurn) and message.text.strip():
            return bool(message.tool_calls)
        if isinstance(message, UserText) and not message.is_fleeting:
            return False
    return False


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read the rest of the stream: only then is the connection reusable."""
    with anyio.move_on_after(_DRAIN_TIMEOUT_S), suppress(httpx.TransportError):
        async for _ in chunks:
            pass


def _record(role: ModelRole, prompt: Prompt, finish_event: ModelCallFinished) -> None:
    usage = finish_event.usage
    record_model_call(role, usage)
    telemetry.add_fields(model=finish_event.model)
    telemetry.info(
        "structured_answer",
        prompt=prompt.name,
        version=prompt.version,
        model=finish_event.model,
        output_tokens=usage.output_tokens,
    )


def _is_endless(answer: _StructuredAnswer, prompt: Prompt, max_tokens: int | None) -> bool:
    """Tell whether a model found no end: it repeats itself, or had all the room that an answer needs.

    That is what the prompt says, or as much as what it is about.
    """
    if answer.end.reason == "length":
        needed = min(prompt.answer_tokens, count_data_tokens(prompt.data))
        return (max_tokens or 0) >= needed
    return answer.end.reason == "repetition"


def _parse(
    answer: _StructuredAnswer,
    prompt: Prompt,
    schema: type[T],
    *,
    max_tokens: int | None,
    may_stop_early: bool = False,
) -> T:
    """Parse an answer, for which there were `max_tokens`; one that `may_stop_early` is read as far as it came.

    Raises ModelFailed, and Unavailable for an answer that broke off before it was whole.
    """
    try:
        return parse_answer(
            answer.text,
            answer.reasoning,
            schema,
            name=prompt.name,
            data=prompt.data,
            may_be_cut=prompt.takes_cut_answers
            and (may_stop_early or _is_endless(answer, prompt, max_tokens)),
        )
    except ModelFailed:
        if answer.end.reason == "cut":
            raise Unavailable("the model's stream broke off") from None
        raise
