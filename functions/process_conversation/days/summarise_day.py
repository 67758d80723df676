"""Daily summary when it is due: one model call over a local day, stored once, and told once.

Also called: daily recap, daily digest.
"""

from contextlib import suppress
from datetime import date, timedelta

from functions.process_conversation.days.day_material import DayMaterial, load_material
from functions.process_conversation.days.day_output import (
    DayOutput,
    build_plain_output,
    build_summary,
)
from functions.process_conversation.deps import DayDeps
from shared import prompts, telemetry
from shared.data.stores import Stores
from shared.domain.account.notification import Notification, NotificationId
from shared.domain.account.profile import Profile
from shared.domain.conversations.daily_summary import DAILY_SUMMARY, DailySummary
from shared.domain.errors import AlreadyExists, ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.library.summary_schedule import (
    MAX_LATE,
    find_next_window,
    schedule_at,
    schedule_summary,
)
from shared.library.webhook_tasks import queue_day_summary
from shared.models.data_room import DataRoom
from shared.ports import ChatModel, Tasks

PROMPT = "process_conversation/daily_summary"
ANSWER_TOKENS = 4_000
"""Thirty tasks, five subjects and fifteen notes, and the overview."""
MAX_DATA_TOKENS = 100_000
"""More than a hundred overviews, tasks and memories take."""
MAX_EARLY = timedelta(minutes=1)
"""Clocks differ, and a task that finds itself early cannot be created again under its name."""
TITLE = "Your day"


async def summarise_day(deps: DayDeps, uid: UserId, day: date) -> None:
    """Make and announce the summary of a day, if it is due by the owner's settings as they are now.

    A task that comes early creates the one of the right time. A repeat goes on where an interrupted
    attempt stopped. Raises Unavailable: call again.
    """
    profile, now = await deps.stores.profiles.get(uid), deps.clock.now()
    if not profile.daily_summary.enabled:
        return
    if now + MAX_EARLY < profile.daily_summary.find_due(day, profile.zone):
        await schedule_summary(deps.tasks, uid, profile, day, now=now)
        return
    summary = await deps.stores.daily_summaries.find(uid, day)
    if summary is None or not summary.is_scheduled:
        summary = await _make_scheduled(deps, uid, profile, day)
    if summary is not None and summary.announced_at is None:
        await announce(deps.stores, deps.tasks, uid, summary)
        await deps.stores.daily_summaries.mark_announced(uid, day, now)


async def _make_scheduled(
    deps: DayDeps, uid: UserId, profile: Profile, day: date
) -> DailySummary | None:
    """Store the summary of a day; None for a day without conversations, or while no model answers.

    Without a model for a whole day, the summary is made of titles.
    """
    material = await load_material(deps.stores, uid, day, profile)
    if material is None:
        return None
    now = deps.clock.now()
    model = deps.model.for_user(uid, is_masked=profile.masks_private_data, urgency="later")
    try:
        output = await complete_day(model, material)
    except Unavailable:
        telemetry.add_fields(outcome="postponed")
        if now - profile.daily_summary.find_due(day, profile.zone) < MAX_LATE:
            await schedule_at(deps.tasks, uid, day, find_next_window(now))
            return None
        output = build_plain_output(material)
    summary = build_summary(output, material, now=now, is_scheduled=True)
    return await deps.stores.daily_summaries.put(uid, day, summary)


async def complete_day(model: ChatModel, material: DayMaterial) -> DayOutput:
    """Ask the model for a recap; titles stand for an answer that cannot be used, or of a model that writes none.

    Raises Unavailable.
    """
    if model.describe("reader").is_extractive:
        return build_plain_output(material)
    room = DataRoom(model, "reader", max_tokens=MAX_DATA_TOKENS)
    instructions = prompts.render(PROMPT)
    prompt = prompts.build_prompt(
        PROMPT,
        material.to_data(room.compute(instructions, ANSWER_TOKENS)),
        answer_tokens=ANSWER_TOKENS,
    )
    try:
        return await model.complete_structured("reader", prompt, DayOutput)
    except ModelFailed:
        telemetry.warning("daily_summary_without_model")
        return build_plain_output(material)


async def announce(stores: Stores, tasks: Tasks, uid: UserId, summary: DailySummary) -> None:
    """Tell the owner of a summary by one push, and their own webhook; a repeat tells nobody again."""
    notification = build_notification(summary)
    with suppress(AlreadyExists):  # written by an earlier attempt
        await stores.inbox.add(uid, notification)
    name = f"{notification.id}-{telemetry.hash_id(uid)}"
    await tasks.create("deliver_notification", name, {"uid": uid, "id": notification.id})
    await queue_day_summary(stores, tasks, uid, summary.id)


def build_notification(summary: DailySummary) -> Notification:
    """Build the notification; the mobile app reads its data as a message that leads to the summary."""
    notification_id = NotificationId(f"daily-summary-{summary.id}")
    text = f"{summary.day_emoji} {summary.headline}".strip()
    data = {
        "id": notification_id,
        "created_at": summary.created_at.isoformat(),
        "sender": "ai",
        "from_integration": "true",
        "type": "text",
        "notification_type": "daily_summary",
        "plugin_id": "",
        "text": text,
        "navigate_to": f"/daily-summary/{summary.id}",
    }
    return Notification(
        id=notification_id,
        app_id=DAILY_SUMMARY,
        title=TITLE,
        body=text,
        created_at=summary.created_at,
        data=data,
        delivered_at=summary.created_at,
    )
