"""Preparation of a turn: a question is accepted with all that its answer needs, or refused."""

from asyncio import gather
from collections.abc import Awaitable, Sequence
from datetime import datetime
from itertools import islice

from functions.chat.context import history, prompt
from functions.chat.deps import ChatDeps
from functions.chat.runs.turn_slots import HeldSlot
from functions.chat.tools.app_tools import build_app_tools
from functions.chat.tools.library_tools import build_library_tools
from functions.chat.tools.service_tools import build_service_tools
from functions.chat.tools.task_tools import build_task_tools
from functions.chat.tools.toolkit import Tool
from functions.chat.turn.admission import load_and_admit
from functions.chat.turn.chat_sessions import require_visible_app, resolve_session
from functions.chat.turn.idempotency import IdempotencyKey, check_unused
from functions.chat.turn.output_gate import OutputGate
from functions.chat.turn.reply import accept_reply
from functions.chat.turn.tool_policy import ToolPolicy, build_tool_policy
from shared.data.cached_apps import PinnedApp
from shared.domain.app import App
from shared.domain.chat import Message, Session, build_main_session_id
from shared.domain.confirmation import Confirmation, build_always_grant
from shared.domain.connection import Connection
from shared.domain.consent import Consent, Grant, build_tool_key
from shared.domain.errors import Invalid, TooLarge
from shared.domain.ids import AppId, RunId, SessionId, UserId
from shared.domain.model import ModelMessage, ModelRole
from shared.domain.profile import Profile
from shared.domain.run import build_question_id
from shared.domain.value import value
from shared.security.visible_text import strip_invisible

MAX_QUESTION_CHARS = 20_000
MAX_EARLIER_TEXTS = 3
"""Number of earlier messages of the owner that rank the tools."""


@value
class PreparedTurn:
    """An accepted question with everything its answer needs.

    `decided` is the call that the answer before asked about, where the question is its owner's reply.
    """

    uid: UserId
    run_id: RunId
    session: Session
    question: Message
    role: ModelRole
    messages: Sequence[ModelMessage]
    tools: Sequence[Tool]
    tool_policy: ToolPolicy
    output_gate: OutputGate
    can_confirm: bool
    slot: HeldSlot
    fingerprint: str = ""
    decided: Confirmation | None = None


async def prepare_turn(
    deps: ChatDeps,
    uid: UserId,
    text: str,
    app_id: AppId | None,
    session_id: SessionId | None = None,
    *,
    key: IdempotencyKey | None = None,
    can_confirm: bool = False,
) -> PreparedTurn:
    """Accept a question or refuse it: reads documents in two rounds, and takes a slot beside them.

    It writes nothing else but the decision of an owner whose message replies to a question of ours,
    and the pins of apps that were installed before there were any.

    `can_confirm` says that the client can show its owner a question while the answer goes on.

    Raises Invalid (empty text), TooLarge (over MAX_QUESTION_CHARS), NotFound (no such app or chat
    session), QuotaExceeded and DuplicateQuestion.
    """
    text = _clean_question(text)
    now = deps.clock.now()
    session_id = session_id or build_main_session_id(app_id)
    run_id = key.run_id(uid) if key else RunId(deps.new_id())
    check = check_unused(deps, uid, run_id, key)
    load = _load_context(deps, uid, app_id, session_id, check=check)
    context, slot = await load_and_admit(deps, uid, run_id, load)
    app, session = context.app, context.session
    earlier_messages = history.select_window(context.newest_messages, session)
    persona = app if app is not None and app.persona_prompt is not None else None
    decided = await accept_reply(deps, uid, run_id, text, context.newest_messages)
    tools = [] if persona else _collect_tools(deps, uid, text, context, decided)
    return PreparedTurn(
        uid=uid,
        run_id=run_id,
        session=session,
        question=_build_question(run_id, session, text, now),
        role=persona.persona_model if persona else "agent",
        messages=prompt.build_prompt(
            text,
            history=earlier_messages,
            summary=session.summary,
            profile=context.profile,
            app=app,
            now=now,
        ),
        tools=tools,
        tool_policy=build_tool_policy(
            text,
            history=earlier_messages,
            session=session,
            app=app,
            tools=tools,
            local_time=now.astimezone(context.profile.zone),
        ),
        output_gate=OutputGate(is_stored=False),
        can_confirm=can_confirm,
        slot=slot,
        fingerprint=key.fingerprint if key else "",
        decided=decided,
    )


def _clean_question(text: str) -> str:
    if len(text) > MAX_QUESTION_CHARS:
        raise TooLarge(
            f"Your message is too long: {len(text)} characters, at most {MAX_QUESTION_CHARS}."
        )
    text = strip_invisible(text).strip()
    if not text:
        raise Invalid("Your message is empty. Please write a question.")
    return text


@value
class _Context:
    """The documents that an answer is prepared from."""

    profile: Profile
    session: Session
    newest_messages: Sequence[Message]
    connections: Sequence[Connection]
    app: App | None
    offered_apps: Sequence[PinnedApp]
    consent: Consent


async def _load_context(
    deps: ChatDeps,
    uid: UserId,
    app_id: AppId | None,
    session_id: SessionId,
    *,
    check: Awaitable[None],
) -> _Context:
    """Read in two rounds; `check` runs beside the first and may refuse the question."""
    profile, session, newest_messages, installed_apps, (connections, consent), _ = await gather(
        deps.stores.profiles.get(uid),
        resolve_session(deps, uid, app_id, session_id),
        deps.stores.messages.list_newest(uid, session_id, limit=history.MAX_READ),
        deps.stores.installed_apps.list_all(uid),
        gather(deps.stores.connections.list_all(uid), deps.stores.grants.load(uid)),
        check,
    )
    app, offered_apps = await _load_apps(
        deps, uid, session.app_id, [installation.app_id for installation in installed_apps]
    )
    return _Context(
        profile=profile,
        session=session,
        newest_messages=newest_messages,
        connections=connections,
        app=app,
        offered_apps=offered_apps,
        consent=await _pin_unpinned(deps, uid, offered_apps, consent),
    )


async def _load_apps(
    deps: ChatDeps, uid: UserId, chat_app_id: AppId | None, installed_ids: Sequence[AppId]
) -> tuple[App | None, list[PinnedApp]]:
    """Return the app that a chat belongs to, uncached, and the installed apps, in one round."""
    chat_apps, offered_apps = await gather(
        deps.stores.apps.get_many([chat_app_id] if chat_app_id else []),
        deps.offered_apps.get_many(installed_ids),
    )
    return (
        None if chat_app_id is None else require_visible_app(next(iter(chat_apps), None), uid)
    ), offered_apps


async def _pin_unpinned(
    deps: ChatDeps, uid: UserId, apps: Sequence[PinnedApp], consent: Consent
) -> Consent:
    """Pin the tools of apps that were installed before there were pins, as they are now."""
    grants = {
        pinned.app.source.key: {
            build_tool_key(name): Grant(pin=pin) for name, pin in pinned.pins.items()
        }
        for pinned in apps
        if not consent.knows_source(pinned.app.source)
    }
    return await deps.stores.grants.add_missing(uid, grants) if grants else consent


def _select_user_texts(newest_first: Sequence[Message]) -> list[str]:
    """Return the latest messages of the owner before this question."""
    texts = (message.text for message in newest_first if message.sender == "human")
    return list(islice(texts, MAX_EARLIER_TEXTS))


def _build_question(run_id: RunId, session: Session, text: str, now: datetime) -> Message:
    return Message(
        id=build_question_id(run_id),
        session_id=session.id,
        text=text,
        sender="human",
        created_at=now,
        app_id=session.app_id,
    )


def _collect_tools(
    deps: ChatDeps, uid: UserId, question: str, context: _Context, decided: Confirmation | None
) -> list[Tool]:
    """Return the tools for a question; earlier messages help to rank them."""
    earlier_texts = _select_user_texts(context.newest_messages)
    consent = context.consent
    if decided is not None and decided.decision == "always":
        consent = consent.with_grant(decided.source, decided.tool, build_always_grant(decided))
    return [
        *build_library_tools(deps, uid),
        *build_task_tools(deps, uid),
        *build_service_tools(deps, uid, context.connections, consent),
        *build_app_tools(
            deps.toolbox,
            uid,
            context.offered_apps,
            consent,
            question,
            earlier_texts,
            required=decided.model_name if decided else None,
        ),
    ]
