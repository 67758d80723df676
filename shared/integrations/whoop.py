"""Whoop: tools over the owner's sleep, recovery and workouts."""

from datetime import timedelta
from typing import Annotated, Generic, TypeVar

from pydantic import Field

from shared.arguments import Arguments, Date
from shared.domain.connection import OauthClient, Tokens
from shared.integrations.service import (
    Account,
    ConnectionSpec,
    Integration,
    OAuthProvider,
    QueryParams,
    ServiceRequest,
    ServiceResponse,
    ServiceTool,
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
    start: str
    end: str
    nap: bool = False
    score: _SleepScore | None = None


class _RecoveryScore(ServiceResponse):
    recovery_score: float | None = None
    resting_heart_rate: float | None = None
    hrv_rmssd_milli: float | None = None
    spo2_percentage: float | None = None


class _Recovery(ServiceResponse):
    created_at: str
    score: _RecoveryScore | None = None


class _WorkoutScore(ServiceResponse):
    strain: float | None = None
    average_heart_rate: float | None = None
    max_heart_rate: float | None = None
    kilojoule: float | None = None
    distance_meter: float | None = None


class _Workout(ServiceResponse):
    start: str
    end: str
    sport_name: str = "workout"
    score: _WorkoutScore | None = None


class _Page(ServiceResponse, Generic[RecordT]):
    records: tuple[RecordT, ...] = ()


async def _list_sleep(account: Account, arguments: GetWhoopSleep) -> str:
    records = await _fetch_records(account, "/activity/sleep", arguments, _Page[_Sleep])
    return _format_records("nights and naps", [*map(_format_sleep, records)])


async def _list_recoveries(account: Account, arguments: GetWhoopRecovery) -> str:
    records = await _fetch_records(account, "/recovery", arguments, _Page[_Recovery])
    return _format_records("recoveries", [*map(_format_recovery, records)])


async def _list_workouts(account: Account, arguments: GetWhoopWorkouts) -> str:
    records = await _fetch_records(account, "/activity/workout", arguments, _Page[_Workout])
    return _format_records("workouts", [*map(_format_workout, records)])


async def _fetch_records(
    account: Account, path: str, arguments: _Period, page_type: type[_Page[RecordT]]
) -> tuple[RecordT, ...]:
    start = arguments.start_date or (arguments.end_date or account.now) - DEFAULT_LOOKBACK
    query: QueryParams = {"start": start.isoformat(), "limit": arguments.limit}
    if arguments.end_date:
        query["end"] = arguments.end_date.isoformat()
    request = ServiceRequest(url=API + path, query=query)
    return (await account.send(request, page_type)).records


def _format_records(noun: str, entries: list[str]) -> str:
    return (
        format_list(f"{len(entries)} {noun}:", entries) if entries else f"Whoop has no {noun} then."
    )


def _format_sleep(sleep: _Sleep) -> str:
    kind = "Nap" if sleep.nap else "Night"
    head = f"- {kind} {to_one_line(sleep.start, 40)} to {to_one_line(sleep.end, 40)}"
    if sleep.score is None:
        return f"{head}: not scored yet"
    stages = sleep.score.stage_summary
    asleep_ms = stages.total_in_bed_time_milli - stages.total_awake_time_milli
    facts = _format_facts(
        asleep=_format_hours(asleep_ms),
        light=_format_hours(stages.total_light_sleep_time_milli),
        deep=_format_hours(stages.total_slow_wave_sleep_time_milli),
        REM=_format_hours(stages.total_rem_sleep_time_milli),
        performance=_format_number(sleep.score.sleep_performance_percentage, " %"),
        efficiency=_format_number(sleep.score.sleep_efficiency_percentage, " %"),
        breaths=_format_number(sleep.score.respiratory_rate, " a minute"),
    )
    return f"{head}: {facts}"


def _format_recovery(recovery: _Recovery) -> str:
    head, score = f"- {to_one_line(recovery.created_at, 40)}", recovery.score
    if score is None:
        return f"{head}: not scored yet"
    facts = _format_facts(
        recovery=_format_number(score.recovery_score, " %"),
        resting_heart_rate=_format_number(score.resting_heart_rate, " bpm"),
        HRV=_format_number(score.hrv_rmssd_milli, " ms"),
        blood_oxygen=_format_number(score.spo2_percentage, " %"),
    )
    return f"{head}: {facts}"


def _format_workout(workout: _Workout) -> str:
    when = f"{to_one_line(workout.start, 40)} to {to_one_line(workout.end, 40)}"
    head, score = f"- {to_one_line(workout.sport_name, 60)} {when}", workout.score
    if score is None:
        return f"{head}: not scored yet"
    facts = _format_facts(
        strain=_format_number(score.strain, ""),
        average_heart_rate=_format_number(score.average_heart_rate, " bpm"),
        highest_heart_rate=_format_number(score.max_heart_rate, " bpm"),
        energy=_format_number(score.kilojoule, " kJ"),
        distance=_format_number(score.distance_meter, " m"),
    )
    return f"{head}: {facts}"


def _format_facts(**facts: str | None) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {fact}" for name, fact in facts.items() if fact)


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
