"""Routes of voice messages: ask by speaking, and have speech written down, as the Omi app does."""

import hashlib
import re
from functools import partial
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from functions.chat import user_texts
from functions.chat.api.chat_query import ChatQuery
from functions.chat.api.refusals import build_refusal, refuse_question, word_for
from functions.chat.api.run_streams import build_refusal_stream, build_voice_stream
from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import Journal
from functions.chat.runs.run_events import stream_events
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.idempotency import DuplicateQuestion, IdempotencyKey
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question import Question
from functions.chat.voice.voice_messages import (
    NO_FILE,
    VoiceUpload,
    forget_voice,
    is_transcriber_ready,
    transcribe_voice,
)
from shared import telemetry
from shared.domain.chats.run import Run
from shared.domain.chats.storage_mode import is_private, name_within
from shared.domain.errors import CallerError, Invalid, ModelFailed, NotFound, Unavailable
from shared.domain.ids import RunId
from shared.edge.declare.problems import build_problem
from shared.edge.declare.routes import Call, Form, route
from shared.edge.declare.schemas import LANGUAGE_CODE_PATTERN, Wire
from shared.resilience.retry import retry


class VoiceIn(Wire):
    """The language that is spoken, as ISO 639-1; anything else leaves it to the transcriber."""

    language: Annotated[str | None, Field(max_length=32)] = None

    @property
    def language_code(self) -> str | None:
        code = (self.language or "").partition("-")[0].lower()
        return code if re.fullmatch(LANGUAGE_CODE_PATTERN, code) else None


class SpokenTextOut(Wire):
    """What was said; empty where nobody speaks."""

    transcript: str
    language: str | None


MAX_FORM_FILE_BYTES = 31_457_280
"""More than MAX_VOICE_BYTES, so that a person who speaks too long reads why in the chat."""
VOICE_FORM = Form(json_field=None, file_field="files", max_file_bytes=MAX_FORM_FILE_BYTES)


@route(
    "POST",
    "/v2/voice-messages",
    "Ask by speaking, and stream what was said and the answer",
    errors=(401, 413, 422),
    media_type="text/event-stream",
    form=VOICE_FORM,
)
async def send_voice_message(deps: ChatDeps, call: Call[VoiceIn, ChatQuery]) -> Response:
    upload = _read_upload(call)
    key = _build_key(call.query, upload)
    session_id = call.query.session_id
    run_id = RunId(name_within(session_id, key.run_id(call.uid)))
    run = await deps.stores.runs.get(call.uid, run_id, deps.clock.now())
    if run is not None:
        return await _replay_run(deps, call, run)
    keeps_text = not is_private(session_id)
    try:
        spoken = await transcribe_voice(deps, call.uid, upload, keeps_text=keeps_text)
    except (CallerError, ModelFailed, Unavailable) as refusal:
        is_down = isinstance(refusal, Unavailable)
        text = user_texts.VOICE_NOT_WRITTEN_DOWN if is_down else str(refusal)
        return await _refuse(deps, call, text)
    if not spoken.text.strip():
        return await _refuse(deps, call, user_texts.VOICE_NOT_HEARD)
    return await _answer(deps, call, upload, spoken.text, key)


async def _answer(
    deps: ChatDeps,
    call: Call[VoiceIn, ChatQuery],
    upload: VoiceUpload,
    text: str,
    key: IdempotencyKey,
) -> Response:
    query = call.query
    question = Question(text, query.app, query.session, client_language=call.language)
    prepare = partial(prepare_turn, deps, call.uid, question, key=key)
    try:
        turn = await retry(prepare, sleep=deps.clock.sleep)
    except DuplicateQuestion as duplicate:
        return await _replay_run(deps, call, duplicate.run)
    except (CallerError, Unavailable) as refusal:
        return build_refusal_stream(await refuse_question(deps, call.uid, text, query, refusal))
    telemetry.add_fields(run_id=turn.run_id)
    journal = Journal()
    events = stream_events(deps, call.uid, turn.run_id, journal=journal)
    work = partial(_work, deps, turn, journal, upload)
    return build_voice_stream(turn.question, events, work=work)


async def _work(deps: ChatDeps, turn: PreparedTurn, journal: Journal, upload: VoiceUpload) -> None:
    """Answer; once the chat has the text, nothing else needs it."""
    await answer_turn(deps, turn, journal)
    if turn.session.is_private:
        return
    if await deps.stores.runs.get(turn.uid, turn.run_id, deps.clock.now()) is not None:
        await forget_voice(deps, turn.uid, upload)


async def _replay_run(deps: ChatDeps, call: Call[VoiceIn, ChatQuery], run: Run) -> Response:
    """Stream the run that this upload started when it first came."""
    try:
        question = await deps.stores.messages.get(call.uid, run.question_id)
    except NotFound as refusal:
        return build_refusal_stream(build_refusal(deps, call.query, str(refusal)))
    return build_voice_stream(question, stream_events(deps, call.uid, run.id))


@route(
    "POST",
    "/v2/voice-message/transcribe",
    "Write down what is said in a sound file of at most five minutes",
    errors=(401, 409, 413, 422, 429, 502, 503),
    form=VOICE_FORM,
)
async def transcribe_voice_message(deps: ChatDeps, call: Call[VoiceIn]) -> SpokenTextOut | Response:
    upload = _read_upload(call)
    if not upload.content:
        raise Invalid(NO_FILE)
    try:
        spoken = await transcribe_voice(deps, call.uid, upload)
    except ModelFailed as failure:
        return build_problem(502 if is_transcriber_ready(deps) else 503, str(failure))
    except Unavailable:
        return build_problem(503, user_texts.VOICE_NOT_WRITTEN_DOWN, headers={"Retry-After": "1"})
    return SpokenTextOut(transcript=spoken.text, language=spoken.language)


async def _refuse(deps: ChatDeps, call: Call[VoiceIn, ChatQuery], text: str) -> Response:
    text = await word_for(deps, call.uid, text)
    return build_refusal_stream(build_refusal(deps, call.query, text))


def _read_upload(call: Call[VoiceIn, ChatQuery] | Call[VoiceIn]) -> VoiceUpload:
    name, content = (call.file.name, call.file.content) if call.file else ("", b"")
    return VoiceUpload(name=name, content=content, language=call.body.language_code)


def _build_key(query: ChatQuery, upload: VoiceUpload) -> IdempotencyKey:
    """Build the key of the question: the same upload to the same chat is asked once."""
    digest = hashlib.sha256(f"{query.session_id}|{upload.digest}".encode()).hexdigest()
    return IdempotencyKey(text=f"voice-{digest}", fingerprint=digest)


ROUTES = (send_voice_message, transcribe_voice_message)
