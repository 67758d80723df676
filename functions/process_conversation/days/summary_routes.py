"""Daily summaries over HTTP: when they are made, making one now, and reading them."""

from starlette.responses import Response

from functions.process_conversation.days.day_material import load_material
from functions.process_conversation.days.day_output import build_summary
from functions.process_conversation.days.summarise_day import complete_day, summarise_day
from functions.process_conversation.days.summary_schemas import (
    DailySummariesOut,
    DailySummaryOut,
    DailySummarySettingsIn,
    DailySummarySettingsOut,
    SummariseDayIn,
    SummaryPageQuery,
    SummaryRequestIn,
    SummaryRequestOut,
)
from functions.process_conversation.deps import DayDeps
from shared import telemetry
from shared.domain.conversations.daily_summary import find_day
from shared.edge.declare.problems import build_problem
from shared.edge.declare.routes import Call, route
from shared.library.count_model_usage import count_model_usage
from shared.library.deps import LibraryDeps
from shared.library.summary_schedule import schedule_recent_days

NO_CONVERSATIONS = "There is no conversation on that day to summarise."


@route("GET", "/v1/users/daily-summary-settings", "Read when daily summaries are made")
async def get_settings(deps: LibraryDeps, call: Call) -> DailySummarySettingsOut:
    profile = await deps.stores.profiles.get(call.uid)
    return DailySummarySettingsOut.model_validate(profile.daily_summary)


@route(
    "PATCH",
    "/v1/users/daily-summary-settings",
    "Switch daily summaries on or off, or choose their local hour",
)
async def change_settings(
    deps: LibraryDeps, call: Call[DailySummarySettingsIn]
) -> DailySummarySettingsOut:
    """Schedule also where nothing changes: an earlier attempt may have ended before it did."""
    changes = call.body.model_dump(exclude_none=True)
    _, profile = await deps.stores.profiles.change_daily_summary(call.uid, **changes)
    await schedule_recent_days(deps.tasks, call.uid, profile, deps.clock.now())
    return DailySummarySettingsOut.model_validate(profile.daily_summary)


@route(
    "POST",
    "/v1/users/daily-summary-settings/test",
    "Summarise a day now",
    errors=(400, 429),
    is_query_accepted=True,
)
async def request_summary(
    deps: LibraryDeps, call: Call[SummaryRequestIn]
) -> SummaryRequestOut | Response:
    """Make it anew, also where one is stored; when the day is due, it is made once more."""
    profile, now = await deps.stores.profiles.get(call.uid), deps.clock.now()
    day = call.body.day or find_day(now, profile.zone)
    await deps.quotas.take(call.uid, "turns", now=now)
    material = await load_material(deps.stores, call.uid, day, profile)
    if material is None:
        await deps.quotas.give_back(call.uid, "turns", now=now)
        return build_problem(400, NO_CONVERSATIONS)
    model = deps.model.for_user(call.uid, is_masked=profile.masks_private_data)
    async with count_model_usage(deps.quotas, deps.clock, call.uid):
        output = await complete_day(model, material)
    summary = build_summary(output, material, now=now, is_scheduled=False)
    await deps.stores.daily_summaries.put(call.uid, day, summary)
    return SummaryRequestOut(summary_id=summary.id)


@route("GET", "/v1/users/daily-summaries", "List daily summaries, newest first")
async def list_summaries(
    deps: LibraryDeps, call: Call[None, SummaryPageQuery]
) -> DailySummariesOut:
    query = call.query
    summaries = await deps.stores.daily_summaries.list_newest(
        call.uid,
        limit=query.limit,
        offset=query.offset,
        first=query.start_date,
        last=query.end_date,
    )
    return DailySummariesOut(summaries=[DailySummaryOut.of(summary) for summary in summaries])


@route("GET", "/v1/users/daily-summaries/{summary_id}", "Read a daily summary", errors=(401, 404))
async def get_summary(deps: LibraryDeps, call: Call) -> DailySummaryOut:
    summary = await deps.stores.daily_summaries.get(call.uid, call.path["summary_id"])
    return DailySummaryOut.of(summary)


@route("POST", "/", "A day is to be summarised", access="service", status=204)
async def on_day_due(deps: DayDeps, call: Call[SummariseDayIn]) -> None:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    async with count_model_usage(deps.quotas, deps.clock, call.body.uid):
        await summarise_day(deps, call.body.uid, call.body.day)


ROUTES = (get_settings, change_settings, request_summary, list_summaries, get_summary)
DAY_ROUTES = (on_day_due,)
