"""Server of Chat Completions that misbehaves as others were reported to: one quirk an address.

`with run_quirky_server() as server: session = server.open(quirk)` gives `session.url`, where that quirk
alone is played, and records what was asked there. The tables stand in tests/servers/quirks.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
import anyio.lowlevel
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from shared.domain.models.model import ToolSpec
from tests.servers import run_server

SEARCH = "search_conversations"
ARGUMENTS: Mapping[str, Any] = {"query": "plumber"}
ARGUMENTS_JSON = json.dumps(ARGUMENTS)
RESULT = "Ann: The plumber comes on Tuesday at nine."
ANSWER = "The plumber comes on Tuesday at nine. [1]"
GREETING = "Hello Ann, what can I do for you?"
TITLE: Mapping[str, Any] = {"title": "Boiler", "tasks": ["Call the plumber"]}
TITLE_JSON = json.dumps(TITLE)

_SEARCH_REQUESTS = 30
"""Where nothing is named, every step is tried, and each without those that were not needed."""

Body = Mapping[str, Any]
Ask = Literal["greeting", "question", "structured"]
"""A greeting has no tools; a question needs a search; a structured answer is a title with tasks."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What is sent: `pieces` one by one; one that `breaks` ends in the middle of its body."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Iterable[bytes] = ()
    breaks: bool = False


@dataclass(frozen=True, kw_only=True)
class Received:
    """A request: its body, how many came before it, and what its test asks."""

    body: Body
    number: int
    ask: Ask

    @property
    def knows_result(self) -> bool:
        """Tell whether the result of the search is in it, as a message of any role."""
        return "Tuesday at nine" in json.dumps(self.body["messages"])


Play = Callable[[Received], Reply]


@dataclass(frozen=True, kw_only=True)
class End:
    """The right end of what is asked; any of several where reports do not agree on one.

    Without `failures` it is an answer. `window_tokens` is what its model is known to take afterwards.
    `retry_after_s` is the least and the most that a refusal says.
    """

    text: str = ANSWER
    calls: tuple[Mapping[str, Any], ...] | None = (ARGUMENTS,)
    reasons: tuple[str, ...] = ("stop",)
    reasoning: str = ""
    failures: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    window_tokens: int | None = None
    retry_after_s: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Quirk:
    """A way to misbehave, where it was reported, and how a question must end all the same.

    It may cost `extra` requests beyond the least, and for each of its `steps` a refusal and a question
    without anybody's words, which tells whether the form is at fault; where a refusal `is_unexplained`, the
    step is searched. What is learned is kept, unless `is_kept` says that it is not. One that `is_personal`
    comes from what one user or app wrote, and changes nothing for others. `sent` names what is asked.
    """

    id: str
    source: str
    play: Play
    ask: Ask = "question"
    end: End = field(default_factory=End)
    extra: int = 0
    steps: int = 0
    is_unexplained: bool = False
    is_kept: bool = True
    is_personal: bool = False
    sent: str = "chat"
    tools: tuple[ToolSpec, ...] = ()
    model: str = "quirky-1"
    marks_prefixes: bool = False

    @property
    def least(self) -> int:
        """How many requests it takes where nothing is amiss."""
        return 2 if self.ask == "question" and self.end.calls and not self.end.failures else 1

    @property
    def most(self) -> int:
        """How many requests it takes at most."""
        return self.least + self.extra + 2 * self.steps + _SEARCH_REQUESTS * self.is_unexplained


@dataclass(kw_only=True)
class Session:
    """What was asked at one address; `refused` counts answers that were no success."""

    quirk: Quirk
    url: str
    bodies: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    refused: int = 0
    sent_bytes: int = 0


class QuirkyOpenai:
    """The ASGI application, and the test's controls of it."""

    def __init__(self) -> None:
        self.origin = ""
        self._sessions: dict[str, Session] = {}

    def open(self, quirk: Quirk) -> Session:
        """Open an address of its own for a quirk."""
        key = f"s{len(self._sessions)}"
        session = Session(quirk=quirk, url=f"{self.origin}/{key}/v1")
        self._sessions[key] = session
        return session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        _, key, _, *path = scope["path"].split("/")
        session = self._sessions[key]
        if path != ["chat", "completions"]:
            answer = {"data": [{"id": session.quirk.model}]} if path == ["models"] else {}
            await JSONResponse(answer, 200 if answer else 404)(scope, receive, send)
            return
        request = Request(scope, receive)
        received = Received(
            body=await request.json(), number=len(session.bodies), ask=session.quirk.ask
        )
        session.bodies.append(dict(received.body))
        session.authorizations.append(request.headers.get("authorization", ""))
        reply = session.quirk.play(received)
        session.refused += reply.status >= 400
        await _send(reply, session, receive, send)


async def _send(reply: Reply, session: Session, receive: Receive, send: Send) -> None:
    """Send piece by piece until the client leaves; one that breaks lets the server close."""
    headers = [(name.encode(), value.encode("latin-1")) for name, value in reply.headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    async with anyio.create_task_group() as tasks:

        async def leave_with_client() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(leave_with_client)
        for piece in reply.pieces:
            session.sent_bytes += len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    if not reply.breaks:
        await send({"type": "http.response.body", "body": b""})


@contextmanager
def run_quirky_server() -> Iterator[QuirkyOpenai]:
    """Serve on a free port."""
    server = QuirkyOpenai()
    with run_server(server) as server.origin:
        yield server


def send_json(content: Any, status: int = 200, **headers: str) -> Reply:
    """Reply with JSON; `retry_after` becomes the header Retry-After."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(
        status=status,
        headers={"content-type": "application/json", **named},
        pieces=[json.dumps(content).encode()],
    )


def send_text(text: str, status: int = 200, *, kind: str = "text/html") -> Reply:
    return Reply(status=status, headers={"content-type": kind}, pieces=[text.encode()])


def refuse(message: str, status: int = 400, **fields: Any) -> Reply:
    """Refuse as OpenAI does: an object with a message, a type, and perhaps a code and a parameter."""
    error = {"type": "invalid_request_error", "param": None, "code": None, **fields}
    return send_json({"error": {"message": message, **error}}, status)


def stream(*events: Mapping[str, Any] | bytes, done: bool = True, breaks: bool = False) -> Reply:
    """Stream chunks, each a piece of its own; bytes go out as they are."""
    pieces = [event if isinstance(event, bytes) else encode_event(event) for event in events]
    if done:
        pieces.append(b"data: [DONE]\n\n")
    return Reply(headers={"content-type": "text/event-stream"}, pieces=pieces, breaks=breaks)


def encode_event(chunk: Any) -> bytes:
    return f"data: {json.dumps(chunk)}\n\n".encode()


def build_chunk(
    delta: Any = None, finish_reason: str | None = None, **fields: Any
) -> dict[str, Any]:
    """Build one chunk with one choice."""
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish_reason}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1772452800,
        "model": "quirky-1",
        "choices": [choice],
        **fields,
    }


def build_text_chunks(text: str, finish_reason: str | None = "stop") -> list[dict[str, Any]]:
    """Build a whole answer, word by word, with its end."""
    words = re.findall(r"\s*\S+|\s+", text)
    return [
        *(build_chunk({"content": word}) for word in words),
        build_chunk(None, finish_reason),
    ]


def build_call_piece(**fields: Any) -> dict[str, Any]:
    """Build a piece of a call: `name` and `arguments` belong to its function, all else to itself."""
    function = {key: fields.pop(key) for key in ("name", "arguments") if key in fields}
    return {**fields, **({"function": function} if function else {})}


def call(arguments: Any = ARGUMENTS_JSON, **fields: Any) -> dict[str, Any]:
    """Build a whole call of the search in one piece."""
    return build_call_piece(**{"name": SEARCH, "arguments": arguments, **fields})


def build_completion(message: Mapping[str, Any], finish_reason: str = "stop") -> dict[str, Any]:
    """Build an answer that is not streamed."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", **message},
        "finish_reason": finish_reason,
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "quirky-1",
        "choices": [choice],
    }


def behave(received: Received) -> Reply:
    """Answer as every client expects it."""
    message = _build_message(received)
    finish_reason = "tool_calls" if "tool_calls" in message else "stop"
    if not received.body.get("stream"):
        return send_json(build_completion(message, finish_reason))
    return stream(build_chunk(message), build_chunk(None, finish_reason))


def _build_message(received: Received) -> Mapping[str, Any]:
    if received.ask == "structured":
        return {"content": TITLE_JSON}
    if received.ask == "greeting":
        return {"content": GREETING}
    if "tools" in received.body and not received.knows_result:
        function = {"name": SEARCH, "arguments": ARGUMENTS_JSON}
        piece = {"index": 0, "id": "call_a1", "type": "function", "function": function}
        return {"content": None, "tool_calls": [piece]}
    return {"content": ANSWER}


def always(reply: Reply) -> Play:
    return lambda _: reply


def say(*pieces: str, finish_reason: str | None = "stop") -> Play:
    """Stream these pieces of content, whatever is asked."""
    chunks = [build_chunk({"content": piece}) for piece in pieces]
    return always(stream(*chunks, build_chunk(None, finish_reason)))


def search_by(
    *deltas: Mapping[str, Any], finish_reason: str | None = "tool_calls", then: Play = behave
) -> Play:
    """Stream these deltas until the result of the search is known."""
    first = stream(*map(build_chunk, deltas), build_chunk(None, finish_reason))
    return lambda received: then(received) if received.knows_result else first


def search_by_pieces(*pieces: Mapping[str, Any], finish_reason: str | None = "tool_calls") -> Play:
    """Stream these pieces of calls, each in a chunk of its own."""
    return search_by(*({"tool_calls": [piece]} for piece in pieces), finish_reason=finish_reason)


def search_by_text(*pieces: str) -> Play:
    """Write the call into the content."""
    return search_by(*({"content": piece} for piece in pieces), finish_reason="stop")


def play_in_turn(*plays: Play) -> Play:
    """Play one a request, the last for good."""
    return lambda received: plays[min(received.number, len(plays) - 1)](received)


def refuse_if(rule: Callable[[Body], bool], refusal: Reply, then: Play = behave) -> Play:
    """Refuse a request to which the rule applies."""
    return lambda received: refusal if rule(received.body) else then(received)


def list_roles(body: Body) -> Sequence[str]:
    return [message["role"] for message in body["messages"]]
