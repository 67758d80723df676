"""Whoop: tools over the owner's sleep, recovery and workouts."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Generic, TypeVar

from pydantic import Field

from shared.arguments import Arguments, Date
from shared.domain.apps.connection import OauthClient, Tokens
from shared.domain.apps.tool_data import ToolData
from shared.domain.value import value
from shared.integrations.service import (
    Account,
    ConnectionSpec,
    Integration,
    OAuthProvider,
    OwnerTime,
    QueryParams,
    ServiceRequest,
    ServiceResponse,
    ServiceTool,
    build_listing,
    format_list,
    to_one_line,
)
from shared.ports import EgressRequest

API = "https://api.prod.whoop.com/developer/v2"
OAUTH = "https://api.prod.whoop.com/oauth/oauth2"
DEFAULT_LOOKBACK = timedelta(days=7)


class _Period(Arguments):
    start_date: Date = None
    end_date: Date = None
    limit: Annotated[int, Field(ge=1, le=25)] = 7


class GetWhoopSleep(_Period):
    """Tell how the owner slept, newest first, by default in the last 7 days (Whoop)."""


class GetWhoopRecovery(_Period):
    """Tell how recovered the owner was, newest first, by default in the last 7 days (Whoop)."""


class GetWhoopWorkouts(_Period):
    """List the owner's workouts, newest first, by default of the last 7 days (Whoop)."""


RecordT = TypeVar("RecordT", bound=ServiceResponse)


class _Stages(ServiceResponse):
    total_in_bed_time_milli: int = 0
    total_awake_time_milli: int = 0
    total_light_sleep_time_milli: int = 0
    total_slow_wave_sleep_time_milli: int = 0
    total_rem_sleep_time_milli: int = 0


class _SleepScore(ServiceResponse):
    stage_summary: _Stages = _Stages()
    sleep_performance_percentage: float | None = None
    sleep_efficiency_percentage: float | None = None
    respiratory_rate: float | None = None


class _Sleep(ServiceResponse):
    start: OwnerTime
    end: OwnerTime
    nap: bool = False
    score: _SleepScore | None = None


class _RecoveryScore(ServiceResponse):
    recovery_score: float | None = None
    resting_heart_rate: float | None = None
    hrv_rmssd_milli: float | None = None
    spo2_percentage: float | None = None


class _Recovery(ServiceResponse):
    created_at: OwnerTime
    score: _RecoveryScore | None = None


class _WorkoutScore(ServiceResponse):
    strain: float | None = None
    average_heart_rate: float | None = None
    max_heart_rate: float | None = None
    kilojoule: float | None = None
    distance_meter: float | None = None


class _Workout(ServiceResponse):
    start: OwnerTime
    end: OwnerTime
    sport_name: str = "workout"
    score: _WorkoutScore | None = None


class _Page(ServiceResponse, Generic[RecordT]):
    records: tuple[RecordT, ...] = ()


async def _list_sleep(account: Account, arguments: GetWhoopSleep) -> str | ToolData:
    records = await _fetch_records(account, "/activity/sleep", arguments, _Page[_Sleep])
    return _build_data("nights and naps", "sleep", [*map(_read_sleep, records)])


async def _list_recoveries(account: Account, arguments: GetWhoopRecovery) -> str | ToolData:
    records = await _fetch_records(account, "/recovery", arguments, _Page[_Recovery])
    return _build_data("recoveries", "recoveries", [*map(_read_recovery, records)])


async def _list_workouts(account: Account, arguments: GetWhoopWorkouts) -> str | ToolData:
    records = await _fetch_records(account, "/activity/workout", arguments, _Page[_Workout])
    return _build_data("workouts", "workouts", [*map(_read_workout, records)])


async def _fetch_records(
    account: Account, path: str, arguments: _Period, page_type: type[_Page[RecordT]]
) -> tuple[RecordT, ...]:
    start = arguments.start_date or (arguments.end_date or account.now) - DEFAULT_LOOKBACK
    query: QueryParams = {"start": start.isoformat(), "limit": arguments.limit}
    if arguments.end_date:
        query["end"] = arguments.end_date.isoformat()
    request = ServiceRequest(url=API + path, query=query)
    return (await account.send(request, page_type)).records


@value
class _Record:
    """What was measured when; `head` says so in words, and `facts` are empty until it is scored."""

    head: str
    when: Mapping[str, str]
    facts: Mapping[str, str | None]


def _build_data(noun: str, name: str, records: Sequence[_Record]) -> str | ToolData:
    """Return records with the same fields each, so that a model reads them as a table."""
    if not records:
        return f"Whoop has no {noun} then."
    names = dict.fromkeys(name for record in records for name in record.facts)
    entries = [
        {**record.when, **{name: record.facts.get(name) or "" for name in names}}
        for record in records
    ]
    text = format_list(f"{len(records)} {noun}:", [*map(_format_record, records)])
    return build_listing(text, name, entries, entry_type="record")


def _format_record(record: _Record) -> str:
    facts = (
        f"{name.replace('_', ' ')} {fact}"
        for name, fact in record.facts.items()
        if fact is not None
    )
    return f"- {record.head}: {', '.join(facts) or 'not scored yet'}"


def _read_sleep(sleep: _Sleep) -> _Record:
    kind = "Nap" if sleep.nap else "Night"
    when = _read_period(sleep.start, sleep.end)
    return _Record(
        head=f"{kind} {when['start']} to {when['end']}",
        when={"kind": kind, **when},
        facts=_list_sleep_facts(sleep.score) if sleep.score else {},
    )


def _list_sleep_facts(score: _SleepScore) -> Mapping[str, str | None]:
    stages = score.stage_summary
    asleep_ms = stages.total_in_bed_time_milli - stages.total_awake_time_milli
    return {
        "asleep": _format_hours(asleep_ms),
        "light": _format_hours(stages.total_light_sleep_time_milli),
        "deep": _format_hours(stages.total_slow_wave_sleep_time_milli),
        "REM": _format_hours(stages.total_rem_sleep_time_milli),
        "performance": _format_number(score.sleep_performance_percentage, " %"),
        "efficiency": _format_number(score.sleep_efficiency_percentage, " %"),
        "breaths": _format_number(score.respiratory_rate, " a minute"),
    }


def _read_recovery(recovery: _Recovery) -> _Record:
    created_at, score = to_one_line(recovery.created_at, 40), recovery.score
    facts = score and {
        "recovery": _format_number(score.recovery_score, " %"),
        "resting_heart_rate": _format_number(score.resting_heart_rate, " bpm"),
        "HRV": _format_number(score.hrv_rmssd_milli, " ms"),
        "blood_oxygen": _format_number(score.spo2_percentage, " %"),
    }
    return _Record(head=created_at, when={"created_at": created_at}, facts=facts or {})


def _read_workout(workout: _Workout) -> _Record:
    sport, when = to_one_line(workout.sport_name, 60), _read_period(workout.start, workout.end)
    score = workout.score
    facts = score and {
        "strain": _format_number(score.strain, ""),
        "average_heart_rate": _format_number(score.average_heart_rate, " bpm"),
        "highest_heart_rate": _format_number(score.max_heart_rate, " bpm"),
        "energy": _format_number(score.kilojoule, " kJ"),
        "distance": _format_number(score.distance_meter, " m"),
    }
    head = f"{sport} {when['start']} to {when['end']}"
    return _Record(head=head, when={"sport": sport, **when}, facts=facts or {})


def _read_period(start: str, end: str) -> dict[str, str]:
    return {"start": to_one_line(start, 40), "end": to_one_line(end, 40)}


def _format_number(number: float | None, unit: str) -> str | None:
    return None if number is None else f"{number:.1f}".removesuffix(".0") + unit


def _format_hours(duration_ms: int) -> str:
    minutes = duration_ms // 60_000
    return f"{minutes // 60} h {minutes % 60:02} min"


def _build_revocation(_: OauthClient, tokens: Tokens) -> EgressRequest:
    return EgressRequest(
        method="DELETE",
        url=f"{API}/user/access",
        headers={"Authorization": f"Bearer {tokens.access_token}"},
    )


INTEGRATION = Integration(
    service="whoop",
    label="Whoop",
    connection=ConnectionSpec(
        provider=OAuthProvider(
            name="whoop",
            authorize_url=f"{OAUTH}/auth",
            token_url=f"{OAUTH}/token",
            build_revocation=_build_revocation,
            refresh_params={"scope": "offline"},
        ),
        scopes=("read:sleep", "read:recovery", "read:workout"),
        extra_scopes=("offline", "read:profile"),
        account_url=f"{API}/user/profile/basic",
        account_name_path="email",
    ),
    tools=(
        ServiceTool("get_whoop_sleep", "Checking sleep", GetWhoopSleep, _list_sleep),
        ServiceTool("get_whoop_recovery", "Checking recovery", GetWhoopRecovery, _list_recoveries),
        ServiceTool("get_whoop_workouts", "Checking workouts", GetWhoopWorkouts, _list_workouts),
    ),
)
