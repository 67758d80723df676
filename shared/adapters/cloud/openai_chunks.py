"""Chunks of a Chat Completions stream, from bytes to model events; pure.

The SDK's own chunk objects cost five times what reading the bytes does, so the few fields that matter
are declared here and parsed in one step.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from shared.domain.errors import ModelFailed, RateLimited, Unavailable
from shared.domain.failure import FailureReason
from shared.domain.model import (
    ModelCallFinished,
    ModelEvent,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallRequested,
    Usage,
)
from shared.domain.value import value

_RETRYABLE_STATUSES = (408, 409)
_REASON_BY_CODE: Mapping[str | None, FailureReason] = {
    "invalid_api_key": "refused_key",
    "model_not_found": "unknown_model",
    "insufficient_quota": "no_quota",
    "context_length_exceeded": "too_long",
}
_REASON_BY_STATUS: Mapping[int, FailureReason] = {
    401: "refused_key",
    402: "no_quota",
    403: "refused_key",
    404: "unknown_model",
    413: "too_long",
}


@value
class _Function:
    name: str | None = None
    arguments: str | None = None


@value
class _CallPiece:
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


@value
class _Delta:
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[_CallPiece] | None = None


@value
class _ChunkChoice:
    delta: _Delta | None = None
    finish_reason: str | None = None


@value
class _CachedTokens:
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


@value
class _Usage:
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _CachedTokens | None = None


@value
class _Chunk:
    model: str | None = None
    choices: list[_ChunkChoice] | None = None
    usage: _Usage | None = None
    service_tier: str | None = None
    error: Any = None


_CHUNK_ADAPTER = TypeAdapter(_Chunk)


@dataclass(slots=True)
class _PartialCall:
    """A call being assembled."""

    index: int | None
    id: str | None
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def is_continued_by(self, piece: _CallPiece) -> bool:
        """Compare ids where both have one: some providers give every call the same index."""
        if self.id and piece.id:
            return self.id == piece.id
        return self.index == piece.index


class ChunkReader:
    """Reads one stream. `earlier_calls` keeps generated call ids unique in a conversation."""

    def __init__(self, model: str, *, earlier_calls: int = 0) -> None:
        self.is_done = False
        self._model = model
        self._earlier_calls = earlier_calls
        self._buffer = b""
        self._calls: list[_PartialCall] = []
        self._finish_reason: str | None = None
        self._usage = Usage()
        self._is_flex = False

    def feed(self, data: bytes) -> Iterator[ModelEvent]:
        """Yield the events that `data` completes.

        Raises ModelFailed, or Unavailable for a reported fault.
        """
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield from self._read_payload(line[5:].strip())

    def flush(self) -> Iterator[ModelEvent]:
        """Yield what is still open. Raises Unavailable when the stream broke off."""
        if not self.is_done:
            yield from self.feed(b"\n")
        if not self.is_done:
            yield from self._finish()

    def _read_payload(self, payload: bytes) -> Iterator[ModelEvent]:
        if payload == b"[DONE]":
            yield from self._finish()
            return
        chunk = _parse_chunk(payload)
        if chunk.error:
            raise _parse_stream_error(chunk.error)
        self._model = chunk.model or self._model
        self._is_flex = self._is_flex or chunk.service_tier == "flex"
        if chunk.usage:
            self._usage = _to_usage(chunk.usage)
        for choice in chunk.choices or ():
            self._finish_reason = choice.finish_reason or self._finish_reason
            if choice.delta:
                yield from self._read_delta(choice.delta)

    def _read_delta(self, delta: _Delta) -> Iterator[ModelEvent]:
        if reasoning := delta.reasoning_content or delta.reasoning:
            yield ReasoningDelta(reasoning)
        if delta.content:
            yield TextDelta(delta.content)
        if delta.refusal:
            raise ModelFailed("the model refused")
        for piece in delta.tool_calls or ():
            self._assemble(piece)

    def _assemble(self, piece: _CallPiece) -> None:
        call = next((c for c in reversed(self._calls) if c.is_continued_by(piece)), None)
        if call is None:
            call = _PartialCall(piece.index, piece.id)
            self._calls.append(call)
        call.id = call.id or piece.id
        if piece.function:
            call.name = call.name or piece.function.name or ""
            call.arguments.append(piece.function.arguments or "")

    def _finish(self) -> Iterator[ModelEvent]:
        self.is_done = True
        match self._finish_reason:
            case None:
                raise Unavailable("the model's stream broke off")
            case "content_filter":
                raise ModelFailed("the provider's content filter ended the answer")
            case "length":  # a call cut off in its arguments was never meant that way
                yield self._build_end("length")
            case _:
                yield from map(ToolCallRequested, self._complete_calls())
                yield self._build_end("tool_calls" if self._calls else "stop")

    def _build_end(self, reason: Literal["stop", "tool_calls", "length"]) -> ModelCallFinished:
        return ModelCallFinished(
            reason=reason, model=self._model, usage=self._usage, is_flex=self._is_flex
        )

    def _complete_calls(self) -> Iterator[ToolCall]:
        ordered_calls = sorted(self._calls, key=lambda call: call.index or 0)
        for number, call in enumerate(ordered_calls, self._earlier_calls):
            arguments = "".join(call.arguments) or "{}"
            yield ToolCall(id=call.id or f"call_{number}", name=call.name, arguments=arguments)


def build_error(
    status: int, code: str | None = None, *, retry_after_s: float | None = None
) -> Unavailable | ModelFailed:
    """Build the error for an HTTP status.

    The provider's text is left out, as it may quote the prompt.
    """
    reason = f"the model provider answered {status}" + (f" ({code})" if code else "")
    if code in _REASON_BY_CODE:
        return ModelFailed(reason, reason=_REASON_BY_CODE[code])
    if status == 429:
        return RateLimited(reason, retry_after_s=retry_after_s)
    if status in _RETRYABLE_STATUSES or status >= 500:
        return Unavailable(reason, retry_after_s=retry_after_s)
    return ModelFailed(reason, reason=_REASON_BY_STATUS.get(status, "other"))


def parse_retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Parse Retry-After in seconds; a date, which no provider sends, is ignored."""
    header = headers.get("retry-after", "")
    return float(header) if header.isdecimal() else None


def _parse_stream_error(error: Any) -> Unavailable | ModelFailed:
    """Build the error that a provider reports inside a stream."""
    facts = error if isinstance(error, dict) else {}
    if facts.get("type") == "invalid_request_error":
        return build_error(400, _read_code(facts))
    code = facts.get("code")
    return build_error(code if isinstance(code, int) else 500, _read_code(facts))


def _read_code(facts: Mapping[str, Any]) -> str | None:
    """Return a code that we know; any other text may quote the prompt."""
    code = facts.get("code")
    return code if isinstance(code, str) and code in _REASON_BY_CODE else None


def _parse_chunk(payload: bytes) -> _Chunk:
    try:
        return _CHUNK_ADAPTER.validate_json(payload)
    except ValidationError as error:
        problem = f"{error.error_count()} errors"
        message = f"the model's stream is not valid JSON: {problem}"
        raise ModelFailed(message, reason="malformed_answer") from None


def _to_usage(usage: _Usage) -> Usage:
    details = usage.prompt_tokens_details
    return Usage(
        input_tokens=usage.prompt_tokens or 0,
        cached_tokens=(details.cached_tokens if details else 0) or 0,
        cache_write_tokens=(details.cache_write_tokens if details else 0) or 0,
        output_tokens=usage.completion_tokens or 0,
    )
