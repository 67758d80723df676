"""Health tool: steps, sleep, heart rate, energy and workouts, as the owner's phone sent them."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import ResultRenderer, Tool, WordedResult, render_fixed
from shared.arguments import Arguments
from shared.domain.apps.apple_health import AppleHealth, HealthRecord
from shared.domain.ids import UserId

Kind = Literal["steps", "sleep", "heart_rate", "energy", "workouts"]
NUMBERS: Mapping[Kind, Sequence[str]] = {
    "steps": ("total_steps", "average_steps_per_day"),
    "sleep": ("total_sleep_hours", "total_in_bed_hours", "sleep_sessions_count"),
    "heart_rate": ("heart_rate_average", "heart_rate_min", "heart_rate_max"),
    "energy": ("total_active_energy", "average_active_energy_per_day"),
    "workouts": (),
}
RECORDS: Mapping[Kind, Sequence[str]] = {
    "steps": ("daily_steps",),
    "sleep": ("daily_sleep", "sleep_sessions"),
    "heart_rate": (),
    "energy": ("daily_active_energy",),
    "workouts": ("workouts",),
}
NOTHING_SYNCED = (
    "The owner's phone sent no health figures. They are sent by the app once it may read them."
)


class GetHealthData(Arguments):
    """Read the owner's steps, sleep, heart rate, active energy or workouts of the last days.

    Figures of days are summed up and averaged already: quote them, do not calculate.
    """

    kinds: Annotated[
        list[Kind], Field(min_length=1, max_length=5, description="What to read, such as sleep.")
    ]
    start_date: Annotated[
        date | None, Field(description="First day, in the owner's time zone; all without one.")
    ] = None
    end_date: Annotated[date | None, Field(description="Last day; all without one.")] = None


def build_health_tools(deps: ChatDeps, uid: UserId, zone: ZoneInfo) -> list[Tool]:
    return [
        build_builtin_tool(
            "get_health_data",
            "Looking at your health figures",
            GetHealthData,
            partial(_get_health_data, deps, uid, zone),
            tool_class="read",
        )
    ]


async def _get_health_data(
    deps: ChatDeps, uid: UserId, zone: ZoneInfo, arguments: GetHealthData
) -> ResultRenderer:
    figures = await deps.stores.health.get_apple(uid)
    if figures is None:
        return WordedResult(
            render=render_fixed(NOTHING_SYNCED), shown_text="Your phone has sent no health figures."
        )
    by_kind = {kind: _describe_kind(figures, kind, arguments) for kind in arguments.kinds}
    text = json.dumps({**_describe_period(figures, zone), **by_kind}, ensure_ascii=False)
    return WordedResult(render=render_fixed(text), shown_text="Your health figures")


def _describe_period(figures: AppleHealth, zone: ZoneInfo) -> Mapping[str, Any]:
    synced_at = figures.synced_at
    return {
        "days_in_all": figures.numbers.get("period_days"),
        "sent_at": synced_at.astimezone(zone).isoformat(timespec="minutes") if synced_at else None,
    }


def _describe_kind(figures: AppleHealth, kind: Kind, arguments: GetHealthData) -> Mapping[str, Any]:
    """Return the figures of the whole period, and the days of the range with sums and means."""
    whole = {name: figures.numbers[name] for name in NUMBERS[kind] if name in figures.numbers}
    lists = {name: figures.records[name] for name in RECORDS[kind] if name in figures.records}
    in_range = {name: _select(records, arguments) for name, records in lists.items()}
    return {
        "all_days": whole,
        **{name: {"entries": found, **_sum_up(found)} for name, found in in_range.items()},
    }


def _select(records: Sequence[HealthRecord], arguments: GetHealthData) -> list[HealthRecord]:
    """Return the records of the range; one without a day belongs to any."""
    first = arguments.start_date.isoformat() if arguments.start_date else ""
    last = arguments.end_date.isoformat() if arguments.end_date else "9999"
    return [record for record in records if first <= _find_day(record, first) <= last]


def _find_day(record: HealthRecord, default: str) -> str:
    stamp = record.get("date") or record.get("start_date") or record.get("start")
    return stamp[:10] if isinstance(stamp, str) else default


def _sum_up(records: Sequence[HealthRecord]) -> Mapping[str, Any]:
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    for record in records:
        for name, figure in record.items():
            if isinstance(figure, int | float) and not isinstance(figure, bool):
                sums[name] = sums.get(name, 0) + figure
                counts[name] = counts.get(name, 0) + 1
    means = {name: round(total / counts[name], 2) for name, total in sums.items()}
    return {"sum": {name: round(total, 2) for name, total in sums.items()}, "mean": means}
