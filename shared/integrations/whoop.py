"""Whoop: how the owner slept, recovered and trained (P7)."""

from datetime import timedelta
from typing import Annotated, TypeVar

from pydantic import Field

from shared.arguments import Arguments, Date
from shared.domain.connection import OauthClient, Tokens
from shared.integrations.service import (
    Account,
    Answer,
    Consent,
    Integration,
    Provider,
    Query,
    Request,
    ServiceTool,
    line,
    told,
)
from shared.ports import EgressRequest

API = "https://api.prod.whoop.com/developer/v2"
OAUTH = "https://api.prod.whoop.com/oauth/oauth2"
LOOKED_BACK = timedelta(days=7)


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


class _Stages(Answer):
    total_in_bed_time_milli: int = 0
    total_awake_time_milli: int = 0
    total_light_sleep_time_milli: int = 0
    total_slow_wave_sleep_time_milli: int = 0
    total_rem_sleep_time_milli: int = 0


class _SleepScore(Answer):
    stage_summary: _Stages = _Stages()
    sleep_performance_percentage: float | None = None
    sleep_efficiency_percentage: float | None = None
    respiratory_rate: float | None = None


class _Sleep(Answer):
    start: str
    end: str
    nap: bool = False
    score: _SleepScore | None = None


class _Sleeps(Answer):
    records: tuple[_Sleep, ...] = ()


class _RecoveryScore(Answer):
    recovery_score: float | None = None
    resting_heart_rate: float | None = None
    hrv_rmssd_milli: float | None = None
    spo2_percentage: float | None = None


class _Recovery(Answer):
    created_at: str
    score: _RecoveryScore | None = None


class _Recoveries(Answer):
    records: tuple[_Recovery, ...] = ()


class _WorkoutScore(Answer):
    strain: float | None = None
    average_heart_rate: float | None = None
    max_heart_rate: float | None = None
    kilojoule: float | None = None
    distance_meter: float | None = None


class _Workout(Answer):
    start: str
    end: str
    sport_name: str = "workout"
    score: _WorkoutScore | None = None


class _Workouts(Answer):
    records: tuple[_Workout, ...] = ()


async def _sleep(account: Account, asked: GetWhoopSleep) -> str:
    found = await _records(account, "/activity/sleep", asked, _Sleeps)
    return _listed("nights and naps", [_sleep_entry(each) for each in found.records])


async def _recovery(account: Account, asked: GetWhoopRecovery) -> str:
    found = await _records(account, "/recovery", asked, _Recoveries)
    return _listed("recoveries", [_recovery_entry(each) for each in found.records])


async def _workouts(account: Account, asked: GetWhoopWorkouts) -> str:
    found = await _records(account, "/activity/workout", asked, _Workouts)
    return _listed("workouts", [_workout_entry(each) for each in found.records])


R = TypeVar("R", bound=Answer)


async def _records(account: Account, path: str, asked: _Period, kind: type[R]) -> R:
    start = asked.start_date or (asked.end_date or account.now) - LOOKED_BACK
    query: Query = {"start": start.isoformat(), "limit": asked.limit}
    if asked.end_date:
        query["end"] = asked.end_date.isoformat()
    return await account.send(Request(url=API + path, query=query), kind)


def _listed(what: str, entries: list[str]) -> str:
    return told(f"{len(entries)} {what}:", entries) if entries else f"Whoop has no {what} then."


def _sleep_entry(sleep: _Sleep) -> str:
    kind = "Nap" if sleep.nap else "Night"
    head = f"- {kind} {line(sleep.start, 40)} to {line(sleep.end, 40)}"
    if sleep.score is None:
        return f"{head}: not scored yet"
    stages = sleep.score.stage_summary
    asleep = stages.total_in_bed_time_milli - stages.total_awake_time_milli
    facts = _facts(
        asleep=_hours(asleep),
        light=_hours(stages.total_light_sleep_time_milli),
        deep=_hours(stages.total_slow_wave_sleep_time_milli),
        REM=_hours(stages.total_rem_sleep_time_milli),
        performance=_with(sleep.score.sleep_performance_percentage, " %"),
        efficiency=_with(sleep.score.sleep_efficiency_percentage, " %"),
        breaths=_with(sleep.score.respiratory_rate, " a minute"),
    )
    return f"{head}: {facts}"


def _recovery_entry(recovery: _Recovery) -> str:
    head, score = f"- {line(recovery.created_at, 40)}", recovery.score
    if score is None:
        return f"{head}: not scored yet"
    facts = _facts(
        recovery=_with(score.recovery_score, " %"),
        resting_heart_rate=_with(score.resting_heart_rate, " bpm"),
        HRV=_with(score.hrv_rmssd_milli, " ms"),
        blood_oxygen=_with(score.spo2_percentage, " %"),
    )
    return f"{head}: {facts}"


def _workout_entry(workout: _Workout) -> str:
    when = f"{line(workout.start, 40)} to {line(workout.end, 40)}"
    head, score = f"- {line(workout.sport_name, 60)} {when}", workout.score
    if score is None:
        return f"{head}: not scored yet"
    facts = _facts(
        strain=_with(score.strain, ""),
        average_heart_rate=_with(score.average_heart_rate, " bpm"),
        highest_heart_rate=_with(score.max_heart_rate, " bpm"),
        energy=_with(score.kilojoule, " kJ"),
        distance=_with(score.distance_meter, " m"),
    )
    return f"{head}: {facts}"


def _facts(**facts: str | None) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {fact}" for name, fact in facts.items() if fact)


def _with(number: float | None, unit: str) -> str | None:
    return None if number is None else f"{number:.1f}".removesuffix(".0") + unit


def _hours(milliseconds: int) -> str:
    minutes = milliseconds // 60_000
    return f"{minutes // 60} h {minutes % 60:02} min"


def _revocation(_: OauthClient, tokens: Tokens) -> EgressRequest:
    return EgressRequest(
        method="DELETE",
        url=f"{API}/user/access",
        headers={"Authorization": f"Bearer {tokens.access_token}"},
    )


INTEGRATION = Integration(
    service="whoop",
    label="Whoop",
    consent=Consent(
        provider=Provider(
            name="whoop",
            authorize_url=f"{OAUTH}/auth",
            token_url=f"{OAUTH}/token",
            revocation=_revocation,
            refreshes={"scope": "offline"},
        ),
        scopes=("read:sleep", "read:recovery", "read:workout"),
        beside=("offline", "read:profile"),
        account=f"{API}/user/profile/basic",
        account_name="email",
    ),
    tools=(
        ServiceTool(
            name="get_whoop_sleep", status="Checking sleep", asked=GetWhoopSleep, run=_sleep
        ),
        ServiceTool(
            name="get_whoop_recovery",
            status="Checking recovery",
            asked=GetWhoopRecovery,
            run=_recovery,
        ),
        ServiceTool(
            name="get_whoop_workouts",
            status="Checking workouts",
            asked=GetWhoopWorkouts,
            run=_workouts,
        ),
    ),
)
