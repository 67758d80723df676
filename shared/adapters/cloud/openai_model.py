"""ChatModel on OpenAI Chat Completions, at any compatible base URL."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

import anyio
import httpx
from pydantic import ValidationError

from shared import telemetry
from shared.adapters.cloud import openai_requests
from shared.adapters.cloud.model_spans import open_model_call
from shared.adapters.cloud.openai_chunks import ChunkReader
from shared.adapters.cloud.openai_http import OpenaiHttp
from shared.data.codec import type_adapter
from shared.domain.errors import ModelFailed, TierRefused
from shared.domain.local_address import is_local_url
from shared.domain.model import (
    AssistantTurn,
    ModelCallFinished,
    ModelEvent,
    ModelFacts,
    ModelMessage,
    ModelRole,
    Prompt,
    TextDelta,
    ToolSpec,
)
from shared.domain.model_facts import find_model_facts
from shared.domain.token_prices import DEFAULT_TOKEN_PRICES, TokenPrices
from shared.domain.usage_cost import price_usage
from shared.model_meter import record_model_call

T = TypeVar("T")

_CHUNK_TIMEOUT_S = 60.0
"""Longest time between two chunks; the caller bounds the whole turn."""
_FLEX_TIMEOUT_S = 90.0
"""Flex processing is slower; two attempts and one at the usual price end before a request does."""
_FLEX_RETRY_S = 60.0
"""Longer than a caller waits: a refusal stays one for a while."""
_DRAIN_TIMEOUT_S = 0.1
_MAX_STRUCTURED_CHARS = 200_000
"""Many times what our schemas need: a model in a loop does not stop by itself."""


class OpenaiModel:
    """Makes one attempt a call, at one address."""

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
    ) -> None:
        """Without a key, every call raises ModelFailed, because some roles are optional.

        `windows` are tokens by role, for models whose name does not tell. With `is_flex`, calls ask
        for OpenAI's flex processing and raise TierRefused where it is refused, as for some models.
        With `marks_prefixes`, they say what its cache shall keep; other servers may refuse that.
        """
        timeout_s = _FLEX_TIMEOUT_S if is_flex else _CHUNK_TIMEOUT_S
        self._http = OpenaiHttp(api_key=api_key, base_url=base_url, timeout_s=timeout_s)
        self._is_flex = is_flex
        self._marks_prefixes = marks_prefixes
        self._is_local = is_local_url(base_url)
        self._models = models
        self._windows = windows or {}
        self._prices = prices

    def name(self, role: ModelRole) -> str:
        return self._models[role]

    def describe(self, role: ModelRole) -> ModelFacts:
        facts = find_model_facts(self.name(role))
        window_tokens = self._windows.get(role, facts.window_tokens)
        return replace(facts, window_tokens=window_tokens, is_local=self._is_local)

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        options = {"tools": [*map(openai_requests.to_wire_tool, tools)]} if tools else {}
        async with aclosing(self._stream_events(role, messages, options)) as events:
            yield events

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        options = {"response_format": openai_requests.build_response_format(prompt.name, schema)}
        messages = openai_requests.build_prompt_messages(prompt)
        async with aclosing(self._stream_events(role, messages, options)) as events:
            text, finish_event = await _collect(events)
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
        if finish_event.reason == "length":
            message = f"the answer to {prompt.name!r} was cut off"
            raise ModelFailed(message, reason="malformed_answer")
        return _parse_answer(text, prompt, schema)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _stream_events(
        self, role: ModelRole, messages: Sequence[ModelMessage], options: Mapping[str, Any]
    ) -> AsyncGenerator[ModelEvent, None]:
        reader = ChunkReader(self.name(role), earlier_calls=_count_calls(messages))
        body = openai_requests.build_chat_body(
            self.name(role), messages, marks_prefixes=self._marks_prefixes
        )
        with open_model_call("chat", self.name(role)) as call:
            async with AsyncExitStack() as stack:
                chunks = await self._open(stack, {**body, **options})
                async for chunk in chunks:
                    call.mark_chunk()
                    for event in reader.feed(chunk):
                        yield call.record(self._price(role, event))
                    if reader.is_done:
                        break
                await _drain(chunks)
                for event in reader.flush():
                    yield call.record(self._price(role, event))

    async def _open(self, stack: AsyncExitStack, body: Mapping[str, Any]) -> AsyncIterator[bytes]:
        """Open the stream. A model that knows no flex processing answers without it."""
        tier = {"service_tier": "flex"} if self._is_flex else {}
        try:
            return await stack.enter_async_context(
                self._http.stream("chat/completions", {**body, **tier})
            )
        except ModelFailed as error:
            if not self._is_flex or error.reason != "other":
                raise
            raise TierRefused("flex processing was refused", retry_after_s=_FLEX_RETRY_S) from error

    def _price(self, role: ModelRole, event: ModelEvent) -> ModelEvent:
        """Add the cost to the end of a call: by the model that answered, or that was asked for."""
        if not isinstance(event, ModelCallFinished):
            return event
        names = (event.model, self.name(role))
        usage = price_usage(self._prices, names, event.usage, is_flex=event.is_flex)
        return replace(event, usage=usage)


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read the rest of the stream: only then is the connection reusable."""
    with anyio.move_on_after(_DRAIN_TIMEOUT_S), suppress(httpx.TransportError):
        async for _ in chunks:
            pass


async def _collect(events: AsyncIterator[ModelEvent]) -> tuple[str, ModelCallFinished]:
    text = []
    remaining_chars = _MAX_STRUCTURED_CHARS
    async for event in events:
        match event:
            case TextDelta(piece):
                text.append(piece)
                remaining_chars -= len(piece)
                if remaining_chars < 0:
                    raise ModelFailed("the answer did not end", reason="malformed_answer")
            case ModelCallFinished():
                finish_event = event
    return "".join(text), finish_event


def _parse_answer(text: str, prompt: Prompt, schema: type[T]) -> T:
    try:
        value: T = type_adapter(schema).validate_json(text)
    except ValidationError as error:
        problem = f"{error.error_count()} errors"
        message = f"the answer to {prompt.name!r} does not fit its schema: {problem}"
        raise ModelFailed(message, reason="malformed_answer") from None
    return value


def _count_calls(messages: Sequence[ModelMessage]) -> int:
    return sum(
        len(message.tool_calls) for message in messages if isinstance(message, AssistantTurn)
    )
