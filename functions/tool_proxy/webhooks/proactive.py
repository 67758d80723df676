"""Proactive notifications: an app that hears live words asks that one be written for its user.

It sends a request, and names what the model is to know. The text goes to the user alone: the app reads none of it.
"""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from functions.tool_proxy.deps import DeliveryDeps
from shared import prompts, telemetry
from shared.data.store.codec import type_adapter
from shared.domain.account.notification import NotificationId
from shared.domain.apps.app import App
from shared.domain.apps.webhook import WebhookDelivery
from shared.domain.errors import KeepsakeError
from shared.domain.ids import UserId
from shared.library.count_model_usage import count_model_usage
from shared.library.notify import PostedNotification, notify
from shared.library.user_model import load_model
from shared.library.webhook_tasks import build_delivery_id
from shared.models.data_room import fit_prompt
from shared.security.link_filter import filter_links
from shared.security.visible_text import strip_invisible

MIN_GAP = timedelta(minutes=5)
MAX_CHARS = 150
MAX_REQUEST_CHARS = 128_000
MAX_MEMORIES = 50
MAX_CONVERSATIONS = 10
MAX_MESSAGES = 10
MAX_OVERVIEW_CHARS = 1_000
ANSWER_TOKENS = 200
_PROMPT = "process_conversation/proactive_notification"


class RequestIn(BaseModel):
    """What an app asks for; `params` are the scopes that the model is to know."""

    model_config = ConfigDict(extra="ignore")

    prompt: Annotated[str, Field(min_length=1, max_length=MAX_REQUEST_CHARS)]
    params: Annotated[list[str], Field(max_length=20)] = []


class NotificationOutput(BaseModel):
    """What the model would tell the user; empty where nothing is worth it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    text: str = ""


async def notify_proactively(
    deps: DeliveryDeps, delivery: WebhookDelivery, app: App, answer: bytes
) -> None:
    """Write what an app's answer asks for, at most one in MIN_GAP; a failure fails no delivery."""
    request = _parse(answer)
    uid = delivery.uid
    installation = await deps.stores.installed_apps.get(uid, app.id)
    if request is None or installation is None:
        return
    if "write_notifications" not in installation.get_permissions(app, uid):
        return
    try:
        now = deps.clock.now()
        if not await deps.stores.live_listeners.take_notification(uid, app.id, now, MIN_GAP):
            return
        await deps.quotas.take(uid, "turns", now=now)
        text = await _write(deps, uid, app, request)
        if text:
            post_id = NotificationId(f"proactive-{build_delivery_id(delivery)}")
            post = PostedNotification(id=post_id, at=now, uid=uid, app=app, text=text)
            await notify(deps, post)
    except KeepsakeError as error:
        telemetry.warning("proactive_notification_failed", error=type(error).__name__)


def _parse(answer: bytes) -> RequestIn | None:
    try:
        content = json.loads(answer)
        asked = content.get("notification") if isinstance(content, dict) else None
        return type_adapter(RequestIn).validate_python(asked) if asked else None
    except (ValueError, RecursionError, ValidationError):
        return None


async def _write(deps: DeliveryDeps, uid: UserId, app: App, request: RequestIn) -> str:
    """Return one line without links, which could carry away what was read; empty for nothing."""
    scopes = {*request.params} & {*app.proactive_scopes}
    prompt = prompts.build_prompt(
        _PROMPT,
        {"app": app.name, "request": request.prompt, **await _load(deps, uid, scopes)},
        answer_tokens=ANSWER_TOKENS,
    )
    model = await load_model(deps, uid)
    fitted = fit_prompt(model, "fast", prompt)
    async with count_model_usage(deps.quotas, deps.clock, uid):
        output = await model.complete_structured("fast", fitted, NotificationOutput)
    return " ".join(filter_links(strip_invisible(output.text)).split())[:MAX_CHARS]


async def _load(deps: DeliveryDeps, uid: UserId, scopes: set[str]) -> Mapping[str, Any]:
    """Read what the app has as a scope and names; the app itself reads none of it."""
    stores = deps.stores
    profile = await stores.profiles.get(uid)
    data: dict[str, Any] = {"language": profile.language}
    if "user_name" in scopes:
        data["user_name"] = profile.name
    if "user_facts" in scopes:
        memories = await stores.memories.list_newest(uid, limit=MAX_MEMORIES)
        data["user_facts"] = [memory.content for memory in memories]
    if "user_context" in scopes:
        latest = await stores.conversations.list_between(uid, limit=MAX_CONVERSATIONS)
        data["user_context"] = [
            {
                "title": each.structured.title,
                "overview": each.structured.overview[:MAX_OVERVIEW_CHARS],
            }
            for each in latest
        ]
    if "user_chat" in scopes:
        page = await stores.messages.list_page(uid, limit=MAX_MESSAGES)
        data["user_chat"] = [{"from": each.sender, "text": each.text} for each in page.items]
    return data
