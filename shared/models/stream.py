"""Stream of a model's answer, from bytes to events, whatever its server makes of the protocol; pure.

The SDK's own chunk objects cost five times what reading the bytes does, so a chunk is parsed in one step,
and only the few fields that matter are looked at. What cannot be read is skipped.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from shared.domain.errors import ModelFailed, ModelSilent, Unavailable
from shared.domain.models.model import (
    FinishReason,
    ModelCallFinished,
    ModelEvent,
    ReasoningDelta,
    TextDelta,
    TextWithdrawn,
    ToolCall,
    ToolCallRequested,
    Usage,
)
from shared.models.calls import CallAssembler
from shared.models.content import ContentReader
from shared.models.known_models import Quirk
from shared.models.refusals import Refused, read_stream_error
from shared.models.repetition import RepetitionWatch

MAX_ANSWER_BYTES = 24 * 1_048_576
MAX_LINE_BYTES = 8 * 1_048_576
_MAX_GIVEN_BACK_CHARS = 256_000
_ENDS: Sequence[tuple[str, re.Pattern[str]]] = (
    ("broken", re.compile("malformed")),
    (
        "filter",
        re.compile(
            "filter|safety|recitation|blocklist|prohibited|spii|sensitive|guardrail|refus|policy"
        ),
    ),
    ("length", re.compile("length|max_.*tokens|window")),
    ("repetition", re.compile("repetition|loop")),
    (
        "broken",
        re.compile(
            "error|abort|cancel|insufficient|network|malformed|unexpected|other|timeout|unknown"
        ),
    ),
)
"""What the names of ends hold, as providers give them: `length`, `MAX_TOKENS`, `content_filter: SPII`."""
_OTHER_FIELDS = (b":", b"id:", b"retry:")
"""Lines of an event stream that say nothing here."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_GIVEN_BACK_PREFIXES = ("reasoning", "thinking", "thought", "extra_content", "signature")
"""Fields of a delta that providers want to see again with the calls they came with."""
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "thought")


class StreamReader:
    """Reads one stream.

    `names` are the tools that were offered. `earlier_ids` keep generated call ids unique in a
    conversation. With `reads_calls`, a model may write its calls as text, unless `is_quoted` says that
    the text was given to it. Where it `may_be_empty`, all was said before.
    """

    def __init__(
        self,
        model: str,
        *,
        names: Collection[str] = (),
        earlier_ids: Collection[str] = (),
        reads_calls: bool = True,
        is_quoted: Callable[[str], bool] = lambda _: False,
        thinks_first: bool = False,
        may_be_empty: bool = False,
    ) -> None:
        self.is_done = False
        self.has_native_calls = False
        self.has_withdrawn = False
        self.reasoning = ""
        self.quirks: set[Quirk] = set()
        self._model = model
        self._earlier_ids = earlier_ids
        self._buffer = b""
        self._bytes = 0
        self._names = names if reads_calls else ()
        self._may_be_empty = may_be_empty
        self._open_payload = b""
        self._is_error_event = False
        self._unread: list[bytes] = []
        self._calls = CallAssembler(names)
        self._content = ContentReader(
            names=self._names, is_quoted=is_quoted, thinks_first=thinks_first
        )
        self._watch = RepetitionWatch()
        self._has_text = False
        self._half = ""
        self._finish_reason = ""
        self._usage = Usage()
        self._is_flex = False
        self._given_back: dict[str, Any] = {}

    @property
    def thinks_first(self) -> bool | None:
        """Tell whether it began with a thought that no tag opened; None where it says nothing of it."""
        if self.has_withdrawn:
            return True
        return self._content.has_thought if self._has_text else None

    def feed(self, data: bytes) -> list[ModelEvent]:
        """Return the events that `data` completes.

        Raises Refused for a reported fault before the first word, ModelFailed, and Unavailable.
        """
        self._bytes += len(data)
        if not data.strip() and not self._buffer and self._bytes < MAX_ANSWER_BYTES:
            return []
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        if self._bytes > MAX_ANSWER_BYTES or len(self._buffer) > MAX_LINE_BYTES:
            raise ModelFailed("the answer did not end", reason="malformed_answer")
        events: list[ModelEvent] = []
        for line in lines:
            if self.is_done:
                break
            self._read_line(line, events)
        return events

    def flush(self) -> list[ModelEvent]:
        """Return what is still open. Raises Unavailable where nothing came, or ModelFailed."""
        events: list[ModelEvent] = []
        if not self.is_done:
            self._read_line(self._buffer, events)
        if not self.is_done and self._unread:
            self._read_whole(b"\n".join(self._unread), events)
        if not self.is_done:
            self._finish(events, is_ended=False)
        return events

    def give_up(self) -> list[ModelEvent]:
        """Return the words that were held back where the connection broke: an answer keeps all that came.

        None where nothing was shown yet: it can still be asked for again.
        """
        events: list[ModelEvent] = []
        if self._has_text and not self.is_done:
            for event in self._content.give_up():
                self._add_content(event, events)
        return events

    def _read_line(self, line: bytes, events: list[ModelEvent]) -> None:
        if line.startswith(_BYTE_ORDER_MARK):
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if line.startswith(b"data:"):
            self._read_payload(line[5:].strip(), events)
        elif not line:
            self._open_payload, self._is_error_event = b"", False
        elif line.startswith(b"event:"):
            self._is_error_event = b"error" in line
        elif line.startswith(b"error:"):
            self._end_with_error(_parse(line[6:].strip()) or "", events)
        elif line.strip() and not line.startswith(_OTHER_FIELDS):
            self._unread.append(line)

    def _read_payload(self, payload: bytes, events: list[ModelEvent]) -> None:
        if payload == b"[DONE]":
            if self._unread and not self._has_text:
                self._read_whole(b"\n".join(self._unread), events)
            self._finish(events, is_ended=True)
            return
        content = _parse(payload)
        if content is None and self._open_payload:  # data in several lines
            payload = self._open_payload + b"\n" + payload
            content = _parse(payload)
        self._open_payload = payload if content is None else b""
        for chunk in _list_chunks(content):
            if self._is_error_event and "choices" not in chunk:
                self._end_with_error(chunk.get("error") or chunk, events)
            else:
                self._read_chunk(chunk, events)

    def _read_whole(self, content: bytes, events: list[ModelEvent]) -> None:
        """Read what came instead of a stream: an answer as one JSON, its chunks by line, or a page."""
        whole = _parse(content)
        read = _list_chunks(whole) or _list_chunks([_parse(line) for line in self._unread])
        read = [_unwrap(chunk) for chunk in read]
        is_answer = any("choices" in chunk or _find_error(chunk) for chunk in read)
        if not is_answer and not self._has_text:
            raise ModelFailed("the answer is none of a language model", reason="wrong_server")
        for chunk in read:
            self._read_chunk(chunk, events)
        if isinstance(whole, dict) and read and not self.is_done:
            self._finish(events, is_ended=True)

    def _read_chunk(self, chunk: Mapping[str, Any], events: list[ModelEvent]) -> None:
        choices = chunk.get("choices")
        if type(choices) is list:
            for choice in choices:
                if type(choice) is dict:
                    self._read_choice(choice, events)
        if not choices and (error := _find_error(chunk)):
            self._end_with_error(error, events)
            return
        if usage := chunk.get("usage"):
            self._usage = _read_usage(usage) or self._usage
        model = chunk.get("model")
        if type(model) is str and model:
            self._model = model
        if chunk.get("service_tier") == "flex":
            self._is_flex = True

    def _end_with_error(self, error: Any, events: list[ModelEvent]) -> None:
        """End an answer whose first words are there; before them, the request was refused."""
        if self.is_done:
            return
        self.is_done = True
        if not self._has_text:
            raise Refused(read_stream_error(error))
        for event in self._content.flush():
            self._add_content(event, events)
        events.append(self._build_end("cut"))

    def _read_choice(self, choice: Mapping[str, Any], events: list[ModelEvent]) -> None:
        if choice.get("index") not in (0, None, "0"):
            return  # one answer was asked for
        delta = _to_object(choice.get("delta"))
        if not delta and not self._has_text and not self._calls:
            delta = _to_object(choice.get("message"))
        if len(delta) == 1 and type(delta.get("content")) is str:
            self._read_text(delta["content"], events)
        elif delta:
            self._read_delta(delta, events)
        elif type(text := choice.get("text")) is str:
            self._read_text(text, events)
        reason = choice.get("finish_reason")
        if reason and type(reason) is str:
            self._finish_reason = reason.lower()

    def _read_delta(self, delta: Mapping[str, Any], events: list[ModelEvent]) -> None:
        if delta.get("refusal"):
            raise ModelFailed("the model refused", reason="filtered")
        self._think(_find_reasoning(delta), events)
        for part in _list_parts(delta.get("content")):
            if type(part) is str:
                self._read_text(part, events)
            else:
                self._think(_to_text(part), events)
        if calls := delta.get("tool_calls"):
            self._calls.add_pieces(calls)
        if call := _to_object(delta.get("function_call")):
            self._calls.add({"function": call})
        for name in delta:
            if name.startswith(_GIVEN_BACK_PREFIXES):
                self._give_back(name, delta[name])

    def _think(self, text: str, events: list[ModelEvent]) -> None:
        if text:
            self.reasoning += text
            events.append(ReasoningDelta(text))
            self._check_repetition(text, events)

    def _read_text(self, text: str, events: list[ModelEvent]) -> None:
        if self._half or _ends_in_half(text):
            text = self._join_halves(text)
        if not text:
            return
        for event in self._content.feed(text):
            self._add_content(event, events)
        self._check_repetition(text, events)

    def _add_content(self, event: ModelEvent, events: list[ModelEvent]) -> None:
        match event:
            case TextDelta(text):
                self._has_text = self._has_text or bool(text.strip())
            case ReasoningDelta(text):
                self.reasoning += text
                self.quirks.add("tagged_thoughts")
            case TextWithdrawn():
                self._has_text, self.has_withdrawn = False, True
                self.quirks.add("tagged_thoughts")
        events.append(event)

    def _join_halves(self, text: str) -> str:
        """Join the halves of a character that was cut between two chunks; keep one that ends a piece."""
        text, self._half = self._half + text, ""
        if _ends_in_half(text):
            text, self._half = text[:-1], text[-1]
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _check_repetition(self, text: str, events: list[ModelEvent]) -> None:
        if self._watch.sees_repetition(text) and not self.is_done:
            self.is_done = True
            events.append(self._build_end("repetition"))

    def _give_back(self, name: str, content: Any) -> None:
        before = self._given_back.get(name)
        if not content or len(str(before or "")) > _MAX_GIVEN_BACK_CHARS:
            return
        is_joined = isinstance(before, str | list) and type(before) is type(content)
        self._given_back[name] = before + content if is_joined else content

    def _finish(self, events: list[ModelEvent], *, is_ended: bool) -> None:
        """End the answer: by its mark, or where the stream does, if it is whole as it stands."""
        if self.is_done:
            return
        self.is_done = True
        for event in self._content.flush():
            self._add_content(event, events)
        reason = self._choose_end(is_ended=is_ended)
        if not self._finish_reason:
            self.quirks.add("no_finish")
        if reason not in (
            "stop",
            "tool_calls",
        ):  # a call cut off in its arguments was never meant that way
            events.append(self._build_end(reason))
            return
        calls = [*self._list_calls()]
        events += map(ToolCallRequested, calls)
        events.append(self._build_end("tool_calls" if calls else "stop"))

    def _choose_end(self, *, is_ended: bool) -> FinishReason:
        """Return how the answer ended. Raises ModelFailed, and Unavailable where nothing came of it."""
        kind = _find_end(self._finish_reason)
        if kind == "filter":
            raise ModelFailed("the provider's content filter ended the answer", reason="filtered")
        has_calls = bool(self._calls or self._find_written_calls())
        if not (has_calls or self._has_text or kind == "length"):
            if self._may_be_empty and kind == "" and (self._finish_reason or is_ended):
                return "stop"
            if self._finish_reason or is_ended:
                raise ModelSilent("the model ended without a word")
            raise Unavailable("the model's stream broke off before its first word")
        if kind in ("length", "repetition"):
            return "length" if kind == "length" else "repetition"
        is_named = bool(self._finish_reason) and kind != "broken"
        if is_named or (has_calls and self._calls.are_whole and kind != "broken"):
            return "stop"
        if has_calls:
            raise Unavailable("the model's stream broke off within a call")
        return "stop" if is_ended and not self._finish_reason else "cut"

    def _find_written_calls(self) -> Sequence[ToolCall]:
        """Return calls in the content; where it says nothing, those at the end of a thought count."""
        if self._content.calls or self._has_text or not self._names:
            return self._content.calls
        thought = ContentReader(names=self._names)
        thought.feed(self.reasoning)
        thought.flush()
        self._content.calls = thought.calls
        return thought.calls

    def _list_calls(self) -> Iterator[ToolCall]:
        self.has_native_calls = bool(self._calls)
        calls = self._calls
        if not calls:
            for call in self._content.calls:
                self.quirks.add("written_calls")
                calls.add({"function": {"name": call.name, "arguments": call.arguments}})
        return calls.list_calls(earlier_calls=len(self._earlier_ids), used_ids=self._earlier_ids)

    def _build_end(self, reason: FinishReason) -> ModelCallFinished:
        return ModelCallFinished(
            reason=reason,
            model=self._model,
            usage=self._usage,
            is_flex=self._is_flex,
            given_back=self._given_back if self._calls else {},
        )


def _find_end(reason: str) -> str:
    """Return the kind of an end; empty for one that is as it should be, or that is not named."""
    return next((kind for kind, words in _ENDS if words.search(reason)), "") if reason else ""


def _find_error(chunk: Mapping[str, Any]) -> Any:
    """Return what a chunk without an answer says is wrong, under any of the usual names."""
    if error := chunk.get("error"):
        return error
    base = _to_object(chunk.get("base_resp"))
    if base.get("status_msg") and base.get("status_code"):
        return {"message": base["status_msg"]}
    is_error = chunk.get("object") == "error" or any(
        chunk.get(name) for name in ("detail", "errors", "error_message")
    )
    return chunk if is_error and not chunk.get("choices") else None


def _unwrap(chunk: dict[str, Any]) -> dict[str, Any]:
    """Return the answer that an envelope holds, or what is no envelope as it is."""
    if "choices" in chunk:
        return chunk
    inner = (part for part in chunk.values() if isinstance(part, dict) and "choices" in part)
    return next(inner, chunk)


def _parse(payload: bytes) -> Any:
    """Parse a chunk; None where it is no JSON. Half characters are kept, to be joined with the next."""
    try:
        return from_json(payload)
    except ValueError:
        pass
    try:
        return json.loads(payload.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _find_reasoning(delta: Mapping[str, Any]) -> str:
    """Return the thought of a delta, which some servers give in two fields at once."""
    fields = (*_REASONING_FIELDS, "reasoning_details")
    return next(filter(None, (_to_text(delta.get(field)) for field in fields)), "")


def _to_object(content: Any) -> dict[str, Any]:
    return content if type(content) is dict else {}


def _list_chunks(content: Any) -> list[dict[str, Any]]:
    parts = content if isinstance(content, list) else [content]
    return [part for part in parts if isinstance(part, dict)]


def _ends_in_half(text: str) -> bool:
    return text != "" and "\ud800" <= text[-1] <= "\udbff"


def _list_parts(content: Any) -> Iterator[Any]:
    """Yield the texts of content, which may be a list of parts; a thought is yielded as its part."""
    if type(content) is str:
        yield content
    elif isinstance(content, dict):
        is_thought = str(content.get("type", "text")).startswith(("think", "reason", "thought"))
        is_part = "type" in content or "text" in content
        yield content if is_thought else _to_text(content) if is_part else json.dumps(content)
    elif isinstance(content, list):
        for part in content:
            yield from _list_parts(part)


def _to_text(content: Any) -> str:
    """Return the words of a field, in whatever it is wrapped."""
    if type(content) is str:
        return content
    if isinstance(content, list):
        return "".join(map(_to_text, content))
    if isinstance(content, dict):
        names = ("text", "content", "thinking", "reasoning", "summary", "value")
        return next(filter(None, (_to_text(content.get(name)) for name in names)), "")
    return ""


def _read_usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    cached = _to_count(details.get("cached_tokens")) or _to_count(
        usage.get("prompt_cache_hit_tokens")
    )
    return Usage(
        input_tokens=_to_count(usage.get("prompt_tokens")),
        cached_tokens=cached,
        cache_write_tokens=_to_count(details.get("cache_write_tokens")),
        output_tokens=_to_count(usage.get("completion_tokens")),
    )


def _to_count(number: Any) -> int:
    if isinstance(number, str) and number.isdecimal():
        return int(number)
    is_count = (
        isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number < 2**53
    )
    return int(number) if is_count else 0
