"""Scripted server of OpenAI Chat Completions: real HTTP, with every token and every failure as scripted.

In tests: `with scripted_openai() as server: server.play(Script(text="Hi"))`. As a process:
`python -m tests.servers.openai --port 9000 --delay-ms 50`, scripted by `POST /script` or by
a marker in the newest question: `[[script {"tokens": 200}]]`, or a list of scripts, the n-th of which
answers the question's n-th call. `GET /requests` lists the requests.
"""

import argparse
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import cycle, zip_longest
from threading import Event
from typing import Any

import anyio
import uvicorn
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from shared.environment.model_readers import DEFAULT_MODELS
from tests.letter_vectors import embed_letters
from tests.servers import run_server
from tests.servers.moderations import build_answer

_SCRIPT_MARKER = re.compile(r"\[\[script (\{.*?\}|\[.*?\])\]\]", re.DOTALL)
_WORDS = ("what ", "was ", "said ", "about ", "the ", "garden ", "in ", "spring ")
_PIECE_CHARS = 5
IN_WORDS = "in words"
_REASONING_MODELS = ("gpt-5", "gpt-6")
_TOOLS_WITHOUT_REASONING = ("gpt-5.6", "gpt-6")
_NO_TOOLS = ("gpt-6-astra", "gpt-6.1-")
"""Models that call tools in the Responses API alone."""
_ALWAYS_REASONING = ("gpt-6-astra", "gpt-6.1-sol")


@dataclass(frozen=True, kw_only=True)
class ScriptedCall:
    """A tool call; `arguments` as sent, broken JSON included; without `id` none is sent."""

    name: str
    arguments: str = "{}"
    id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Script:
    """One answer.

    `schema` is the name of the response format it answers, empty for chat, IN_WORDS where the
    instructions hold the schema. `sticky` plays it again
    and again. `endless` never stops. `status` fails before the answer begins, `retry_after` is the
    header it says so with; `break_after` closes the connection and `stall_after` falls silent after
    that many tokens; `malformed` sends a chunk that is no JSON. `service_tier` says how it was processed.
    """

    schema: str = ""
    text: str = ""
    tokens: int = 0
    reasoning: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    refusal: str = ""
    finish_reason: str | None = None
    status: int = 200
    error_code: str | None = None
    retry_after: str = ""
    break_after: int | None = None
    stall_after: int | None = None
    malformed: bool = False
    service_tier: str = ""
    sticky: bool = False
    endless: bool = False
    first_token_ms: float = 0
    token_ms: float = 0


async def _moderate(_: Request) -> Response:
    """Find nothing in a text; tests of moderation have a server of their own."""
    return JSONResponse(build_answer())


async def _embed(request: Request) -> Response:
    body = await request.json()
    dimensions = body.get("dimensions", 512)
    vectors = [embed_letters(text, dimensions) for text in body["input"]]
    rows = [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]
    return JSONResponse({"data": rows})


@dataclass(kw_only=True)
class RecordedRequest:
    """A request: its body, its connection, the number of requests ended before it, and its outcome."""

    body: dict[str, Any]
    authorization: str
    client: tuple[str, int]
    after: int
    sent_tokens: int = 0
    closed_early: bool = False
    ended: Event = field(default_factory=Event)

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "ended": self.ended.is_set()}


HARMLESS = Script(schema="reading", text='{"danger": 0}')
"""How a question is read for which no reading is queued."""


class ScriptedOpenai:
    """The ASGI application, and the test's controls of it."""

    def __init__(self, default: Script | None = None) -> None:
        self.url = ""
        self.requests: list[RecordedRequest] = []
        self._default = default or Script(text="Hello there.")
        self._queue: list[Script] = []
        self._control = Starlette(
            routes=[
                Route("/v1/models", self._list_models, methods=["GET"]),
                Route("/v1/moderations", _moderate, methods=["POST"]),
                Route("/v1/embeddings", _embed, methods=["POST"]),
                Route("/script", self._post_script, methods=["POST"]),
                Route("/requests", self._get_requests, methods=["GET"]),
                Route("/requests", self._delete_requests, methods=["DELETE"]),
            ]
        )

    @property
    def answers(self) -> list[RecordedRequest]:
        """The requests for answers to people; those for structured answers come beside and after them."""
        return [each for each in self.requests if "response_format" not in each.body]

    def play(self, *scripts: Script) -> None:
        """Queue scripts; each answers one request of its schema, in order."""
        self._queue += scripts

    def reset(self) -> None:
        """Delete the recorded requests and the queued scripts."""
        self.requests.clear()
        self._queue.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].endswith("/chat/completions"):
            await self._complete(scope, receive, send)
        else:
            await self._control(scope, receive, send)

    async def _complete(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        record = RecordedRequest(
            body=await request.json(),
            authorization=request.headers.get("authorization", ""),
            client=scope["client"],
            after=sum(earlier.ended.is_set() for earlier in self.requests),
        )
        self.requests.append(record)
        try:
            refuses = _refuses(record.body)
            script = Script(status=400) if refuses else self._select_script(record.body)
            record.closed_early = not await _answer(script, record, receive, send)
        finally:
            record.ended.set()

    def _select_script(self, body: dict[str, Any]) -> Script:
        schema = body.get("response_format", {}).get("json_schema", {}).get("name", "")
        if not schema and _asks_in_words(body["messages"]):
            schema = IN_WORDS
        if not schema and (marker_script := _parse_marker(body["messages"])):
            return marker_script
        for script in self._queue:
            if script.schema == schema:
                if not script.sticky:
                    self._queue.remove(script)
                return script
        return HARMLESS if schema == HARMLESS.schema else self._default

    async def _list_models(self, _: Request) -> Response:
        """List our models, or fail as the next answer will; no script is used up."""
        script = next(iter(self._queue), self._default)
        if script.status != 200:
            return JSONResponse(_build_error(script), script.status)
        return JSONResponse({"data": [{"id": name} for name in sorted({*DEFAULT_MODELS.values()})]})

    async def _post_script(self, request: Request) -> Response:
        self.play(*TypeAdapter(list[Script]).validate_json(await request.body()))
        return Response(status_code=204)

    async def _get_requests(self, _: Request) -> Response:
        return JSONResponse([record.to_dict() for record in self.requests])

    async def _delete_requests(self, _: Request) -> Response:
        self.reset()
        return Response(status_code=204)


def _refuses(body: Mapping[str, Any]) -> bool:
    """Tell whether OpenAI refuses the model of a body its reasoning effort, or tools with that effort."""
    model, effort = body.get("model", ""), body.get("reasoning_effort")
    if not model.startswith(_REASONING_MODELS):
        return effort is not None
    if "tools" in body and model.startswith(_TOOLS_WITHOUT_REASONING):
        return effort != "none" or model.startswith(_NO_TOOLS)
    return effort == "none" and model.startswith(_ALWAYS_REASONING)


def _asks_in_words(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a structured answer is asked for without a response format: it is no chat."""
    return any("It must fit this JSON Schema:" in read_text(message) for message in messages[:1])


_SCRIPTS_ADAPTER: TypeAdapter[Script | list[Script]] = TypeAdapter(Script | list[Script])


def _parse_marker(messages: Sequence[Mapping[str, Any]]) -> Script | None:
    """Return the script that the newest question holds for the call after these messages."""
    question_index = max(
        (n for n, message in enumerate(messages) if is_question(message)), default=0
    )
    match = _SCRIPT_MARKER.search(read_text(messages[question_index]))
    if match is None:
        return None
    parsed_script = _SCRIPTS_ADAPTER.validate_json(match[1])
    scripts = parsed_script if isinstance(parsed_script, list) else [parsed_script]
    answer_count = sum(message["role"] == "assistant" for message in messages[question_index:])
    return scripts[answer_count] if answer_count < len(scripts) else None


def is_question(message: Mapping[str, Any]) -> bool:
    """Tell whether the owner wrote a message; a reminder of ours may follow it."""
    return message["role"] == "user" and not read_text(message).startswith("<reminder>")


def read_text(message: Mapping[str, Any]) -> str:
    """Return the words of a message, which may be in parts."""
    content = message["content"]
    if not isinstance(content, list):
        return str(content)
    return "".join(part["text"] for part in content if part["type"] == "text")


async def _answer(script: Script, record: RecordedRequest, receive: Receive, send: Send) -> bool:
    """Send the answer; False when the client left before its end."""
    is_finished = False
    async with anyio.create_task_group() as tasks:

        async def leave_with_client() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(leave_with_client)
        await anyio.sleep(script.first_token_ms / 1000)
        if record.body.get("stream") and script.status == 200:
            await _stream(script, record, send)
        else:
            await _send_json(script, send)
        is_finished = True
        tasks.cancel_scope.cancel()
    return is_finished


async def _send_json(script: Script, send: Send) -> None:
    content = _build_completion(script) if script.status == 200 else _build_error(script)
    headers = [(b"content-type", b"application/json")]
    if script.retry_after:
        headers.append((b"retry-after", script.retry_after.encode()))
    await send({"type": "http.response.start", "status": script.status, "headers": headers})
    body = b'{"id": "broken' if script.malformed else json.dumps(content).encode()
    await send({"type": "http.response.body", "body": body})


async def _stream(script: Script, record: RecordedRequest, send: Send) -> None:
    """Send frame by frame. Returning before the end makes the server close the connection."""
    headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    async for frame in _pace_frames(script):
        if record.sent_tokens == script.break_after:
            return
        if record.sent_tokens == script.stall_after:
            await anyio.sleep_forever()
        await send({"type": "http.response.body", "body": frame, "more_body": True})
        record.sent_tokens += 1
    await send({"type": "http.response.body", "body": b"data: [DONE]\n\n", "more_body": False})


async def _pace_frames(script: Script) -> AsyncIterator[bytes]:
    frames = _build_frames(script)
    for frame in cycle(frames[:-2]) if script.endless else frames:
        yield frame
        await anyio.sleep(script.token_ms / 1000)  # also at 0, so that a disconnect is heard


@lru_cache
def _build_frames(script: Script) -> tuple[bytes, ...]:
    """Encode a whole stream beforehand: benches measure against this server."""
    deltas: list[dict[str, Any]] = [
        {"reasoning_content": w} for w in _split_words(script.reasoning)
    ]
    deltas += [{"content": word} for word in _select_words(script)]
    deltas += [{"refusal": word} for word in _split_words(script.refusal)]
    deltas += _build_call_deltas(script.tool_calls)
    frames = [_build_frame(choices=[_build_choice(delta)]) for delta in deltas]
    if script.malformed:
        frames.append(b'data: {"choices": [{"delta": {"cont\n\n')
    frames.append(_build_frame(choices=[_build_choice({}, _get_finish_reason(script))]))
    tier = {"service_tier": script.service_tier} if script.service_tier else {}
    frames.append(_build_frame(choices=[], usage=_build_usage(script), **tier))
    return tuple(frames)


def _split_words(text: str) -> list[str]:
    return re.findall(r"\s*\S+|\s+", text)


def _build_word(n: int) -> str:
    """Return a word of a text that never says the same again and again."""
    line, place = divmod(n, len(_WORDS))
    return _WORDS[place] if place else f"what{line} "


def _select_words(script: Script) -> list[str]:
    return (
        [_build_word(n) for n in range(script.tokens)]
        if script.tokens
        else _split_words(script.text)
    )


def _build_call_deltas(calls: tuple[ScriptedCall, ...]) -> list[dict[str, Any]]:
    """Interleave the calls' pieces, as providers may."""
    streams = [list(_split_call(index, call)) for index, call in enumerate(calls)]
    rounds = zip_longest(*streams)
    return [{"tool_calls": [piece]} for round_ in rounds for piece in round_ if piece]


def _split_call(index: int, call: ScriptedCall) -> Iterator[dict[str, Any]]:
    first = {"index": index, "type": "function", "function": {"name": call.name, "arguments": ""}}
    yield {**first, "id": call.id} if call.id else first
    for start in range(0, len(call.arguments), _PIECE_CHARS):
        piece = call.arguments[start : start + _PIECE_CHARS]
        yield {"index": index, "function": {"arguments": piece}}


def _get_finish_reason(script: Script) -> str:
    return script.finish_reason or ("tool_calls" if script.tool_calls else "stop")


def _build_choice(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}


def _build_frame(**fields: Any) -> bytes:
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1772452800,
        "model": "scripted-1",
        "system_fingerprint": "fp_1",
        "usage": None,
        **fields,
    }
    return f"data: {json.dumps(chunk, separators=(',', ':'))}\n\n".encode()


def _build_usage(script: Script) -> dict[str, Any]:
    return {
        "prompt_tokens": 100,
        "completion_tokens": len(_select_words(script)),
        "total_tokens": 100 + len(_select_words(script)),
        "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 16},
    }


def _build_completion(script: Script) -> dict[str, Any]:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in script.tool_calls
    ]
    message = {
        "role": "assistant",
        "content": "".join(_select_words(script)),
        "refusal": script.refusal or None,
        "tool_calls": calls or None,
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1772452800,
        "model": "scripted-1",
        "choices": [{"index": 0, "message": message, "finish_reason": _get_finish_reason(script)}],
        "usage": _build_usage(script),
    }


def _build_error(script: Script) -> dict[str, Any]:
    return {"error": {"message": "scripted", "type": "scripted", "code": script.error_code}}


@contextmanager
def scripted_openai(default: Script | None = None) -> Iterator[ScriptedOpenai]:
    """Serve on a free port; `server.url` is the base url for a client."""
    server = ScriptedOpenai(default)
    with run_server(server) as origin:
        server.url = f"{origin}/v1"
        yield server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--delay-ms", type=float, default=0, help="latency to the first token")
    parser.add_argument("--token-ms", type=float, default=0, help="latency of every token")
    parser.add_argument("--tokens", type=int, default=20)
    options = parser.parse_args()
    default = Script(
        tokens=options.tokens, first_token_ms=options.delay_ms, token_ms=options.token_ms
    )
    uvicorn.run(ScriptedOpenai(default), port=options.port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
