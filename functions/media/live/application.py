"""Application of live sound: sockets of devices, whose callers are known before one is accepted.

Also called: WebSocket server, streaming transcription.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from functions.media.deps import ListenDeps
from functions.media.live.live_schemas import ListenQuery
from functions.media.live.stream import SEND_TIMEOUT_S, Caller, Stream, count_live_sound
from shared import telemetry
from shared.domain.errors import Conflict, Invalid, KeepsakeError, TooMany
from shared.domain.ids import UserId
from shared.edge.declare.bearer_tokens import parse_bearer_token
from shared.edge.declare.problems import to_problem
from shared.edge.declare.validation_sentences import build_sentence
from shared.library.recordings import NO_TRANSCRIBER

PATHS = ("/v4/listen", "/v3/listen")
MAX_STREAMS = 8
"""Of a user, in an instance: a phone, a pendant, and what they left behind, whose last words are still heard."""
MAX_OPEN = 8
"""Live conversations of a user, over all instances."""
REFUSED = 1008


def build_application(deps: ListenDeps, *, send_timeout_s: float = SEND_TIMEOUT_S) -> Starlette:
    """Build the application that uvicorn serves."""
    streams = Counter[UserId]()

    async def listen(socket: WebSocket) -> None:
        with telemetry.log_request("listen", trace_headers=socket.headers, from_outside=True):
            telemetry.add_fields(route=f"SOCKET {socket.url.path}")
            await _listen(deps, streams, socket, send_timeout_s)

    async def check_health(_: Request) -> Response:
        return JSONResponse({"status": "ok", "function": "listen"})

    sockets = [WebSocketRoute(path, listen) for path in PATHS]
    return Starlette(routes=[Route("/healthz", check_health), *sockets])


async def _listen(
    deps: ListenDeps, streams: Counter[UserId], socket: WebSocket, send_timeout_s: float
) -> None:
    with ExitStack() as place:
        try:
            token = parse_bearer_token(socket.headers)
            uid = (await deps.identity.verify(token)).uid
            place.enter_context(_hold_place(streams, uid))
            caller = await _admit(deps, socket, uid, token)
        except KeepsakeError as error:
            telemetry.add_fields(outcome="refused", error=type(error).__name__)
            await _refuse(socket, to_problem(error))
            return
        telemetry.add_fields(uid=telemetry.hash_id(uid), codec=caller.query.codec)
        await socket.accept()
        await Stream(deps, socket, caller, send_timeout_s).run()


@contextmanager
def _hold_place(streams: Counter[UserId], uid: UserId) -> Iterator[None]:
    """Count a stream before anything is awaited for it, so that none pass by coming at once. Raises TooMany."""
    if streams[uid] >= MAX_STREAMS:
        raise TooMany(f"At most {MAX_STREAMS} devices record at a time.", retry_after_s=60)
    streams[uid] += 1
    try:
        yield
    finally:
        streams[uid] -= 1
        if not streams[uid]:
            del streams[uid]


async def _admit(deps: ListenDeps, socket: WebSocket, uid: UserId, token: str) -> Caller:
    """Check what a known caller asks for. Raises an error that says why not."""
    query = _parse_query(socket)
    if query.custom_stt == "disabled" and not deps.live_transcriber.is_ready:
        raise Conflict(NO_TRANSCRIBER)
    lives = await deps.stores.live_conversations.list_all(uid)
    if sum(not live.is_set_aside for live in lives) >= MAX_OPEN:
        raise TooMany(f"At most {MAX_OPEN} recordings are open at a time.", retry_after_s=120)
    await count_live_sound(deps, uid)
    return Caller(uid=uid, token=token, device=_name_device(socket, query), query=query)


def _parse_query(socket: WebSocket) -> ListenQuery:
    try:
        return ListenQuery.model_validate(dict(socket.query_params))
    except ValidationError as error:
        raise Invalid(build_sentence(error.errors(include_url=False)[0])) from error


def _name_device(socket: WebSocket, query: ListenQuery) -> str:
    """Name the recorder: a phone sends its own sound and that of a pendant over connections that differ in source."""
    phone = socket.headers.get("x-device-id-hash", "")
    return sha256(f"{phone}\n{query.known_source}".encode()).hexdigest()[:16]


async def _refuse(socket: WebSocket, problem: Response) -> None:
    """Answer with a problem where the server can, as before any other request."""
    if "websocket.http.response" in socket.scope.get("extensions", {}):
        await socket.send_denial_response(problem)
    else:
        await socket.close(REFUSED)
