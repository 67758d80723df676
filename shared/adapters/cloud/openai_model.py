"""ChatModel on OpenAI Chat Completions, at any compatible base URL."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from functools import cached_property
from typing import Any, TypeVar

import anyio
import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI
from pydantic import ValidationError

from shared import telemetry
from shared.adapters.cloud import openai_requests
from shared.adapters.cloud.openai_chunks import ChunkReader, build_error, parse_retry_after_s
from shared.data.codec import type_adapter
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.model import (
    AssistantTurn,
    ModelCallFinished,
    ModelEvent,
    ModelMessage,
    ModelRole,
    Prompt,
    TextDelta,
    ToolSpec,
)

T = TypeVar("T")

_TIMEOUT = httpx2.Timeout(60.0, connect=5.0)
"""60 s between two chunks; the caller bounds the whole turn."""
_DRAIN_TIMEOUT_S = 0.1
_MAX_STRUCTURED_CHARS = 200_000
"""Many times what our schemas need: a model in a loop does not stop by itself."""


class OpenaiModel:
    """Makes one attempt a call, at one address.

    The client is built on first use, in the loop that uses it.
    """

    def __init__(self, *, api_key: str | None, base_url: str, models: Mapping[str, str]) -> None:
        """Without a key, every call raises ModelFailed, because some roles are optional."""
        self._api_key = api_key
        self._base_url = base_url
        self._models = models

    def name(self, role: ModelRole) -> str:
        return self._models[role]

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
        telemetry.add_fields(model=finish_event.model)
        telemetry.count(
            input_tokens=usage.input_tokens,
            cached_tokens=usage.cached_tokens,
            output_tokens=usage.output_tokens,
        )
        telemetry.info(
            "structured_answer",
            prompt=prompt.name,
            version=prompt.version,
            model=finish_event.model,
            output_tokens=usage.output_tokens,
        )
        if finish_event.reason == "length":
            raise ModelFailed(f"the answer to {prompt.name!r} was cut off")
        return _parse_answer(text, prompt, schema)

    async def aclose(self) -> None:
        """Close the pooled connections."""
        if "_client" in vars(self):
            await self._client.close()

    async def _stream_events(
        self, role: ModelRole, messages: Sequence[ModelMessage], options: Mapping[str, Any]
    ) -> AsyncGenerator[ModelEvent, None]:
        reader = ChunkReader(self.name(role), earlier_calls=_count_calls(messages))
        create = self._client.chat.completions.with_streaming_response.create
        # The SDK copies the fields it knows one by one, milliseconds a prompt; an extra body it sends
        # as it is.
        body = {**openai_requests.build_chat_body(self.name(role), messages), **options}
        with _translate_errors():
            async with create(
                model=body["model"], messages=(), stream=True, extra_body=body
            ) as response:
                chunks = response.iter_bytes()
                async for chunk in chunks:
                    for event in reader.feed(chunk):
                        yield event
                    if reader.is_done:
                        break
                await _drain(chunks)
                for event in reader.flush():
                    yield event

    @cached_property
    def _client(self) -> AsyncOpenAI:
        if not self._api_key:
            raise ModelFailed(f"there is no API key for {self._base_url}")
        return AsyncOpenAI(
            api_key=self._api_key, base_url=self._base_url, timeout=_TIMEOUT, max_retries=0
        )


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate the vendor's errors without their text, which may quote the prompt."""
    try:
        yield
    except APIStatusError as error:
        wait_s = parse_retry_after_s(error.response.headers)
        raise build_error(error.status_code, error.code, retry_after_s=wait_s) from None
    except (APIConnectionError, httpx2.TransportError) as error:
        raise Unavailable(f"no connection to the model: {type(error).__name__}") from None


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read the rest of the stream: only then is the connection reusable."""
    with anyio.move_on_after(_DRAIN_TIMEOUT_S), suppress(httpx2.TransportError):
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
                    raise ModelFailed("the answer did not end")
            case ModelCallFinished():
                finish_event = event
    return "".join(text), finish_event


def _parse_answer(text: str, prompt: Prompt, schema: type[T]) -> T:
    try:
        value: T = type_adapter(schema).validate_json(text)
    except ValidationError as error:
        problem = f"{error.error_count()} errors"
        raise ModelFailed(
            f"the answer to {prompt.name!r} does not fit its schema: {problem}"
        ) from None
    return value


def _count_calls(messages: Sequence[ModelMessage]) -> int:
    return sum(
        len(message.tool_calls) for message in messages if isinstance(message, AssistantTurn)
    )
