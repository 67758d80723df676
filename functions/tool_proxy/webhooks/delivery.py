"""What apps hear of a processed conversation: who is told, by which task, and what comes of it."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from functions.tool_proxy.addresses import with_query
from functions.tool_proxy.apps.signing import message_id, signature_headers
from functions.tool_proxy.apps.verdict import judge_webhook, webhook_gone
from functions.tool_proxy.webhooks.body import body_of
from functions.tool_proxy.wiring import ToolProxyDeps
from shared import telemetry
from shared.domain.app import TRIGGER, App, AppCall, InstalledApp
from shared.domain.conversation import Conversation, content_hash
from shared.domain.errors import (
    KeepsakeError,
    NotAllowed,
    NotFound,
    TimedOut,
    Unavailable,
)
from shared.domain.ids import AppId, ConversationId, UserId
from shared.domain.value import value
from shared.ports import EgressRequest

TIMEOUT_S = 30
DELAYS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
)
"""Between attempts, as Standard Webhooks proposes: a server may be down for a night."""
ATTEMPTS = len(DELAYS) + 1


@value
class Told:
    """The content of a conversation, by its hash, on its way to one app."""

    uid: UserId
    app_id: AppId
    conversation_id: ConversationId
    content_hash: str
    attempt: int = 1

    @property
    def id(self) -> str:
        """The message's id, the same on every attempt."""
        return message_id(self.uid, self.app_id, self.conversation_id, self.content_hash)

    @property
    def is_last(self) -> bool:
        return self.attempt >= ATTEMPTS

    @property
    def next(self) -> "Told":
        return replace(self, attempt=self.attempt + 1)


@value
class Outcome:
    """What came of an attempt. `error` is for the app's developer; without one it arrived."""

    error: str | None = None
    is_gone: bool = False


async def announce(
    deps: ToolProxyDeps, uid: UserId, conversation_id: ConversationId, said: str
) -> None:
    """Queue one delivery for each app that wants to hear; again, it queues none."""
    installed = {one.app_id: one for one in await deps.installed_apps.all(uid)}
    apps = await deps.apps.get_many(list(installed)) if installed else []
    for app in apps:
        if _may_hear(app, uid, installed[app.id]):
            told = Told(uid=uid, app_id=app.id, conversation_id=conversation_id, content_hash=said)
            await _queue(deps, told)


async def deliver(deps: ToolProxyDeps, told: Told) -> None:
    """Make one attempt, unless what was to be told is gone; what failed comes again, later."""
    app = await _recipient(deps, told)
    conversation = await _content(deps, told) if app else None
    if app is None or conversation is None:
        telemetry.note(outcome="overtaken")
        return
    if conversation.status != "completed":
        await _put_off(deps, told)
        return
    began = deps.clock.now()
    outcome = await _post(deps, app, told, body_of(conversation))
    telemetry.note(outcome=outcome.error or "delivered", attempt=told.attempt)
    if outcome.is_gone:
        await webhook_gone(deps, app)
    elif outcome.error and not told.is_last:
        await _queue(deps, told.next)
    elif outcome.error:
        await judge_webhook(deps, app)
    took = deps.clock.now() - began
    await _write_down(deps, told, outcome, ms=took // timedelta(milliseconds=1))


def _may_hear(app: App, uid: UserId, installed: InstalledApp) -> bool:
    is_on = app.switched_off is None and app.webhook_off is None
    is_allowed = "hear_conversations" in installed.permissions(app, uid)
    return is_on and app.is_visible_to(uid) and is_allowed


async def _queue(deps: ToolProxyDeps, told: Told) -> None:
    """The first attempt is due now; a task of this name is created once."""
    at = deps.clock.now() + DELAYS[told.attempt - 2] if told.attempt > 1 else None
    ids = {
        "uid": told.uid,
        "app_id": told.app_id,
        "conversation_id": told.conversation_id,
        "content_hash": told.content_hash,
        "attempt": told.attempt,
    }
    await deps.tasks.create("deliver_webhook", f"{told.id}-{told.attempt}", ids, at=at)


async def _put_off(deps: ToolProxyDeps, told: Told) -> None:
    """What is processed anew may be announced under the same name, which would queue nothing."""
    telemetry.note(outcome="put off", attempt=told.attempt)
    if not told.is_last:
        await _queue(deps, told.next)


async def _recipient(deps: ToolProxyDeps, told: Told) -> App | None:
    """Look again: the user may have removed the app since."""
    installed, found = await asyncio.gather(
        deps.installed_apps.get(told.uid, told.app_id), deps.apps.get_many([told.app_id])
    )
    if not found or installed is None:
        return None
    return found[0] if _may_hear(found[0], told.uid, installed) else None


async def _content(deps: ToolProxyDeps, told: Told) -> Conversation | None:
    """Return the conversation if it still says what was announced; a change is announced anew."""
    try:
        conversation = await deps.conversations.get(told.uid, told.conversation_id)
    except NotFound:
        return None
    as_announced = content_hash(conversation) == told.content_hash
    return conversation if as_announced and not conversation.discarded else None


async def _post(deps: ToolProxyDeps, app: App, told: Told, body: bytes) -> Outcome:
    request = EgressRequest(
        method="POST",
        url=with_query(app.external_integration.webhook_url or "", {"uid": told.uid}),
        headers={
            "Content-Type": "application/json",
            **signature_headers(app, body, told.id, deps.clock.now()),
        },
        body=body,
        timeout_s=TIMEOUT_S,
        wants_body=False,
    )
    try:
        response = await deps.egress.send(request)
    except TimedOut:
        return Outcome(error="timeout")
    except NotAllowed as refused:
        return Outcome(error=str(refused))
    except Unavailable:
        return Outcome(error="unreachable")
    if 200 <= response.status < 300:
        return Outcome()
    return Outcome(error=f"HTTP {response.status}", is_gone=response.status == 410)


async def _write_down(deps: ToolProxyDeps, told: Told, outcome: Outcome, *, ms: int) -> None:
    """Note it for the developer; where that does not work, the delivery counts all the same."""
    is_last = told.is_last or outcome.is_gone
    given_up = f"given up after {told.attempt} attempts: {outcome.error}"
    entry = AppCall(
        id=deps.new_id(),
        at=deps.clock.now(),
        kind="webhook",
        name=TRIGGER,
        ms=ms,
        user=telemetry.opaque(f"{told.app_id}|{told.uid}"),
        failed=outcome.error is not None,
        error=given_up if outcome.error and is_last else outcome.error,
    )
    try:
        await deps.calls.add(told.app_id, entry)
    except KeepsakeError as error:
        telemetry.warning("call_not_noted", error=type(error).__name__)
