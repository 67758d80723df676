"""Voice sessions: a secret to speak with the model, its tools, and what was said, in the chat.

Also called: voice mode, ephemeral token.
"""

import asyncio
import base64
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime, timedelta

from functions.chat.consent.taint import Taint
from functions.chat.deps import ChatDeps
from functions.chat.safety.spoken_crisis import audit_spoken
from functions.chat.sessions.chat_sessions import resolve_session
from functions.chat.sessions.open_chat import check_unlocked
from functions.chat.sessions.private_chats import check_companions
from functions.chat.stretches.schedule_stretch import schedule_stretch
from functions.chat.tools.crisis_tools import build_crisis_tools
from functions.chat.tools.health_tools import build_health_tools
from functions.chat.tools.library_tools import build_library_tools
from functions.chat.tools.parsed_call import parse_call
from functions.chat.tools.spoken_memory_tools import Spoken, build_spoken_memory_tools
from functions.chat.tools.task_tools import build_task_tools
from functions.chat.tools.toolkit import Tool, Toolkit
from shared import prompts
from shared.domain.account.profile import Profile
from shared.domain.chats.branches import build_shown_path
from shared.domain.chats.chat import Message, Session
from shared.domain.chats.run import build_question_id
from shared.domain.chats.storage_mode import find_storage_mode, is_private, name_within
from shared.domain.chats.voice_session import (
    VOICE_SESSION_TTL,
    RealtimeSecret,
    RealtimeSetup,
    VoiceSession,
)
from shared.domain.errors import (
    Conflict,
    Invalid,
    NotAllowed,
    NotFound,
    PreconditionFailed,
    Unavailable,
)
from shared.domain.ids import MessageId, RunId, SessionId, UserId
from shared.domain.models.model import ToolCall
from shared.domain.provenance import LIBRARY
from shared.domain.value import value
from shared.security.fencing import fence_untrusted
from shared.security.visible_text import strip_invisible

MAX_SPOKEN_CHARS = 20_000
RECENT_MESSAGES = 20
"""Of the chat: what the owner said in one of them may be quoted."""
_ATTEMPTS = 5
FORBIDDEN_TOOL = "A voice session has no tool of this name."


@value
class BegunVoiceSession:
    """A session with what opens it: the answer to the client's offer of a call, or else a secret."""

    session: VoiceSession
    secret: RealtimeSecret | None = None
    answer: str = ""


@value
class SpokenTurn:
    """What the owner said and what the model answered, both finished; `item_id` is the provider's."""

    item_id: str
    user_text: str
    assistant_text: str


@value
class RecordedTurn:
    """The messages of a turn; a repeat is not recorded again.

    `crisis_plan` is what the client shows where the owner is in a crisis; mostly empty.
    """

    question: Message
    answer: Message
    is_repeat: bool
    crisis_plan: str = ""


async def begin_voice_session(
    deps: ChatDeps, uid: UserId, chat_id: SessionId | None, *, offer: str = ""
) -> BegunVoiceSession:
    """Begin to speak in a chat; it counts as one of the day's questions.

    `offer` is the client's offer of a call (SDP); without one it gets a secret, and calls by itself.

    Raises NotFound, Invalid for a sealed chat, ChatLocked, QuotaExceeded, ModelFailed, whose text is for people, and Unavailable.
    """
    chat = await resolve_session(deps, uid, None, chat_id)
    check_companions(find_storage_mode(chat.id), {"speech": True})
    profile = await deps.stores.profiles.get(uid)
    now = deps.clock.now()
    check_unlocked(chat, profile, now)
    setup = RealtimeSetup(
        instructions=prompts.render(
            "chat/voice",
            now=f"{now.astimezone(profile.zone):%A, %Y-%m-%d %H:%M}",
            zone=profile.zone.key,
        ),
        tools=tuple(tool.spec for tool in _build_tools(deps, uid, profile, chat.id, Spoken())),
        language=_find_language(profile),
    )
    await deps.quotas.take(uid, "turns", now=now)
    session = VoiceSession(
        id=deps.new_id(), chat_id=chat.id, created_at=now, expires_at=now + VOICE_SESSION_TTL
    )
    try:
        begun = await _open(deps, uid, setup, session, offer)
    except BaseException:
        await deps.quotas.give_back(uid, "turns", now=now)
        raise
    await deps.stores.voice_sessions.begin(uid, session)
    return begun


async def _open(
    deps: ChatDeps, uid: UserId, setup: RealtimeSetup, session: VoiceSession, offer: str
) -> BegunVoiceSession:
    realtime = deps.build_realtime()
    if offer:
        answer = await realtime.open_call(uid, setup, offer)
        return BegunVoiceSession(session=session, answer=answer)
    return BegunVoiceSession(session=session, secret=await realtime.create_secret(uid, setup))


def _find_language(profile: Profile) -> str | None:
    code = (profile.language or "").partition("-")[0]
    return code if len(code) == 2 else None


def _build_tools(
    deps: ChatDeps, uid: UserId, profile: Profile, chat_id: SessionId, spoken: Spoken
) -> Sequence[Tool]:
    """Return the services of the chat that change nothing, and one that writes what the owner said.

    An incognito chat leaves nothing behind.
    """
    tools = [
        *build_library_tools(deps, uid, profile.zone, recalls_memories=profile.recalls_memories),
        *build_task_tools(deps, uid, profile.zone, taint=Taint(spoken.said)),
        *build_health_tools(deps, uid, profile.zone),
        *build_crisis_tools(),
    ]
    reading = [tool for tool in tools if tool.tool_class == "read"]
    if is_private(chat_id):
        return reading
    return [*reading, *build_spoken_memory_tools(deps, uid, spoken)]


async def call_voice_tool(
    deps: ChatDeps, uid: UserId, session_id: str, name: str, arguments: str, user_text: str = ""
) -> str:
    """Run a tool of an open session; return what the model reads, also of a failure.

    `user_text` is what the owner said since the last turn that was kept. Raises NotFound, Conflict once it ended, and NotAllowed for any other tool.
    """
    now = deps.clock.now()
    stored = await deps.stores.voice_sessions.get(uid, session_id)
    stored.session.check_takes_turns(now)
    chat_id = stored.session.chat_id
    profile, spoken = await asyncio.gather(
        deps.stores.profiles.get(uid), _load_spoken(deps, uid, chat_id, user_text)
    )
    offered = _build_tools(deps, uid, profile, chat_id, spoken)
    tools = [tool for tool in offered if tool.spec.name == name]
    if not tools:
        raise NotAllowed(FORBIDDEN_TOOL)
    call_id = deps.new_id()
    request = ToolCall(id=call_id, name=name, arguments=arguments)
    toolkit = Toolkit(tools, timeout_s=deps.limits.call_timeout_s)
    call = parse_call(request, call_id, tools[0].spec.parameters)
    (outcome,) = await toolkit.run([call])
    return fence_untrusted(outcome.text, outcome.source or LIBRARY)


async def _load_spoken(deps: ChatDeps, uid: UserId, chat_id: SessionId, reply: str) -> Spoken:
    """Return what was said of late in a chat, with the `reply` to it."""
    newest = await deps.stores.messages.list_newest(uid, chat_id, limit=RECENT_MESSAGES)
    spoken = [message for message in newest if message.metadata.get("spoken")]
    said = [message.text for message in spoken if message.is_owners]
    asked = next((message.text for message in spoken if message.sender == "ai"), "")
    return Spoken(said=[reply, *said], reply=reply, asked=asked)


async def record_voice_turn(
    deps: ChatDeps, uid: UserId, session_id: str, turn: SpokenTurn
) -> RecordedTurn:
    """Keep what was said in the session's chat; it counts as a question, a repeat changes nothing.

    Its words are judged like a question's: what the model that speaks may have missed is logged. It
    belongs to a stretch of the chat as a written turn does. Raises
    NotFound, Invalid, and Conflict for an ended session and for an item that was recorded with
    other words.
    """
    recorded = await _record(deps, uid, session_id, turn)
    if not is_private(recorded.answer.session_id):
        await schedule_stretch(
            deps.tasks, uid, recorded.answer.session_id, recorded.answer.created_at
        )
    return replace(recorded, crisis_plan=await audit_spoken(deps, uid, recorded.question))


async def _record(deps: ChatDeps, uid: UserId, session_id: str, turn: SpokenTurn) -> RecordedTurn:
    """Store a turn once."""
    texts = [strip_invisible(text).strip() for text in (turn.user_text, turn.assistant_text)]
    if not all(texts):
        raise Invalid("A finished turn has what the owner said and what was answered.")
    for _ in range(_ATTEMPTS):
        stored = await deps.stores.voice_sessions.get(uid, session_id)
        answer_id = _build_answer_id(stored.session, turn.item_id)
        known = await _find_recorded(deps, uid, answer_id)
        if known is not None:
            return _require_same(known, texts)
        stored.session.check_takes_turns(deps.clock.now())
        chat = await resolve_session(deps, uid, None, stored.session.chat_id)
        turn_messages = _build_messages(chat, answer_id, texts, deps.clock.now())
        count = deps.stores.voice_sessions.count_turn(uid, stored)
        with suppress(PreconditionFailed):  # another turn was recorded, or this one
            await deps.stores.messages.add(uid, chat, *turn_messages, also=[count])
            await deps.quotas.record(uid, "turns", 1, now=deps.clock.now())
            question, answer = turn_messages
            return RecordedTurn(question=question, answer=answer, is_repeat=False)
    raise Unavailable("The turns of a voice session come too fast")


def _build_answer_id(session: VoiceSession, item_id: str) -> MessageId:
    digest = hashlib.sha256(f"voice|{session.id}|{item_id}".encode()).digest()
    name = base64.urlsafe_b64encode(digest[:16]).decode().rstrip("=")
    return MessageId(name_within(session.chat_id, name))


async def _find_recorded(deps: ChatDeps, uid: UserId, answer_id: MessageId) -> RecordedTurn | None:
    try:
        answer = await deps.stores.messages.get(uid, answer_id)
        question = await deps.stores.messages.get(uid, build_question_id(RunId(answer_id)))
    except NotFound:
        return None
    return RecordedTurn(question=question, answer=answer, is_repeat=True)


def _require_same(known: RecordedTurn, texts: Sequence[str]) -> RecordedTurn:
    """Raises Conflict where an item comes with other words than before."""
    if [known.question.text, known.answer.text] != texts:
        raise Conflict("This item was recorded with other words before.")
    return known


def _build_messages(
    chat: Session, answer_id: MessageId, texts: Sequence[str], now: datetime
) -> tuple[Message, Message]:
    """Build a turn's messages; its model may have read the library, so its words count as such."""
    question = Message(
        id=build_question_id(RunId(answer_id)),
        session_id=chat.id,
        text=texts[0],
        sender="human",
        created_at=now,
        branch=build_shown_path(chat.forks).tip,
        app_id=chat.app_id,
        metadata={"spoken": True},
    )
    answer = replace(
        question,
        id=answer_id,
        text=texts[1],
        sender="ai",
        created_at=now + timedelta(milliseconds=1),
        metadata={"spoken": True, "sources": [asdict(LIBRARY)]},
    )
    return question, answer
