"""Routes of voice sessions: begin, use a tool, keep a finished turn, and end."""

from starlette.responses import Response

from functions.chat import user_texts
from functions.chat.api.voice_session_schemas import (
    BegunVoiceSessionOut,
    VoiceSessionIn,
    VoiceSessionOut,
    VoiceToolIn,
    VoiceToolOut,
    VoiceTurnIn,
    VoiceTurnOut,
)
from functions.chat.deps import ChatDeps
from functions.chat.voice.voice_sessions import (
    begin_voice_session,
    call_voice_tool,
    record_voice_turn,
)
from shared.domain.errors import ModelFailed, Unavailable
from shared.edge.declare.problems import build_problem
from shared.edge.declare.routes import Call, route

MAX_TURN_BYTES = 262_144
"""Two texts of 20,000 characters, each of six bytes as JSON."""


@route(
    "POST",
    "/v2/voice-sessions",
    "Begin to speak with the model, by an offer of a call or with a secret for a minute",
    status=201,
    errors=(404, 409, 423, 429, 502, 503),
    max_bytes=MAX_TURN_BYTES,
)
async def begin(deps: ChatDeps, call: Call[VoiceSessionIn]) -> BegunVoiceSessionOut | Response:
    try:
        begun = await begin_voice_session(deps, call.uid, call.body.chat, offer=call.body.sdp_offer)
    except ModelFailed as failure:
        return build_problem(502 if deps.build_realtime().is_ready else 409, str(failure))
    except Unavailable:
        return build_problem(503, user_texts.REALTIME_DOWN, headers={"Retry-After": "1"})
    return BegunVoiceSessionOut.of_begun(begun)


@route("GET", "/v2/voice-sessions/{id}", "Tell whether a voice session goes on", errors=(404,))
async def get_voice_session(deps: ChatDeps, call: Call) -> VoiceSessionOut:
    stored = await deps.stores.voice_sessions.get(call.uid, call.path["id"])
    return VoiceSessionOut.of(stored.session, deps.clock)


@route(
    "POST",
    "/v2/voice-sessions/{id}/tools",
    "Run a tool that the model called",
    errors=(403, 404, 409),
    max_bytes=MAX_TURN_BYTES,
)
async def call_tool(deps: ChatDeps, call: Call[VoiceToolIn]) -> VoiceToolOut:
    body = call.body
    output = await call_voice_tool(
        deps, call.uid, call.path["id"], body.name, body.arguments, body.user_text
    )
    return VoiceToolOut(output=output)


@route(
    "POST",
    "/v2/voice-sessions/{id}/turns",
    "Keep a finished turn in the chat, once",
    errors=(404, 409),
    max_bytes=MAX_TURN_BYTES,
)
async def record_turn(deps: ChatDeps, call: Call[VoiceTurnIn]) -> VoiceTurnOut:
    turn = await record_voice_turn(deps, call.uid, call.path["id"], call.body.to_turn())
    return VoiceTurnOut.of(turn)


@route("POST", "/v2/voice-sessions/{id}/end", "End a voice session, once", errors=(404,))
async def end_voice_session(deps: ChatDeps, call: Call) -> VoiceSessionOut:
    now = deps.clock.now()
    session = await deps.stores.voice_sessions.end(call.uid, call.path["id"], now=now)
    return VoiceSessionOut.of(session, deps.clock)


ROUTES = (begin, get_voice_session, call_tool, record_turn, end_voice_session)
