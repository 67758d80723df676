"""Quiet hours: delivery decisions in every zone and across every clock change."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from functions.notifications.quiet_hours import (
    DeliveryDecision,
    decide_delivery,
    find_quiet_end,
)
from shared.domain.account.notification_preferences import Preferences, QuietHours
from shared.domain.account.profile import Profile
from shared.domain.ids import AppId

WEATHER = AppId("weather")
BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = QuietHours(begin="22:00", end="07:00")
NOON_BREAK = QuietHours(begin="12:00", end="13:30")


def at(text: str, zone: ZoneInfo = BERLIN, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold).astimezone(UTC)


@pytest.mark.parametrize(
    ("hours", "now", "until"),
    [
        (NIGHT, "2026-03-02T21:59:59", None),
        (NIGHT, "2026-03-02T22:00", "2026-03-03T07:00"),
        (NIGHT, "2026-03-02T23:59", "2026-03-03T07:00"),
        (NIGHT, "2026-03-03T00:00", "2026-03-03T07:00"),
        (NIGHT, "2026-03-03T06:59:59.999999", "2026-03-03T07:00"),
        (NIGHT, "2026-03-03T07:00", None),
        (NOON_BREAK, "2026-03-02T11:59", None),
        (NOON_BREAK, "2026-03-02T12:00", "2026-03-02T13:30"),
        (NOON_BREAK, "2026-03-02T13:30", None),
        # the clock goes from 02:00 to 03:00: 02:30 is skipped, and quiet is the longer reading
        (QuietHours(begin="22:00", end="02:30"), "2026-03-29T01:59", "2026-03-29T03:30"),
        (QuietHours(begin="22:00", end="02:30"), "2026-03-29T03:29", "2026-03-29T03:30"),
        (QuietHours(begin="02:30", end="08:00"), "2026-03-29T01:30", "2026-03-29T08:00"),
        (NIGHT, "2026-03-28T23:00", "2026-03-29T07:00"),
        (NIGHT, "2026-10-24T23:00", "2026-10-25T07:00"),
    ],
)
def test_quiet_hours_follow_the_owners_clock_t16(hours: QuietHours, now: str, until: str | None):
    assert find_quiet_end(hours, zone=BERLIN, now=at(now)) == (at(until) if until else None)


def test_a_repeated_local_time_is_quiet_both_times_t16():
    """The clock goes from 03:00 back to 02:00."""
    hours = QuietHours(begin="22:00", end="02:30")

    for fold in (0, 1):
        now = at("2026-10-25T02:15", fold=fold)
        assert find_quiet_end(hours, zone=BERLIN, now=now) == at("2026-10-25T02:30", fold=1)
    assert find_quiet_end(hours, zone=BERLIN, now=at("2026-10-25T02:30", fold=1)) is None


def test_quiet_hours_of_a_whole_day_do_not_end_early_t16():
    hours = QuietHours(begin="07:00", end="07:00")

    until = find_quiet_end(hours, zone=BERLIN, now=at("2026-03-02T09:00"))

    assert until is not None
    assert until > at("2026-03-03T06:59")


ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu",
     "America/Sao_Paulo", "Pacific/Apia", "Africa/Casablanca", "Pacific/Kiritimati", "Asia/Tehran"]
).map(ZoneInfo)  # fmt: skip
TIMES = st.times().map(lambda t: f"{t:%H:%M}")
HOURS = st.tuples(TIMES, TIMES).filter(lambda t: t[0] != t[1]).map(
    lambda t: QuietHours(begin=t[0], end=t[1])
)  # fmt: skip
NOWS = st.datetimes(datetime(2005, 1, 1), datetime(2035, 1, 1)).map(lambda t: t.replace(tzinfo=UTC))  # noqa: DTZ001


@given(hours=HOURS, zone=ZONES, now=NOWS)
@example(hours=QuietHours(begin="10:00", end="09:59"), zone=BERLIN, now=at("2026-10-25T02:30"))
def test_quiet_lasts_until_its_end_and_no_longer_t16(
    hours: QuietHours, zone: ZoneInfo, now: datetime
):
    until = find_quiet_end(hours, zone=zone, now=now)

    if until is None:
        return
    assert now < until <= now + timedelta(hours=51)
    assert find_quiet_end(hours, zone=zone, now=until) is None
    assert find_quiet_end(hours, zone=zone, now=until - timedelta(microseconds=1)) == until


@given(hours=HOURS, zone=ZONES, now=NOWS)
def test_a_local_time_within_quiet_hours_is_quiet_t16(
    hours: QuietHours, zone: ZoneInfo, now: datetime
):
    local_time = f"{now.astimezone(zone):%H:%M}"
    crosses = hours.end < hours.begin
    inside = (
        local_time >= hours.begin or local_time < hours.end
        if crosses
        else hours.begin <= local_time < hours.end
    )

    if inside:
        assert find_quiet_end(hours, zone=zone, now=now) is not None


@pytest.mark.parametrize(
    ("preferences", "now", "decision"),
    [
        (Preferences(), "2026-03-02T23:00", "push"),
        (Preferences(enabled=False), "2026-03-02T12:00", "silence"),
        (Preferences(muted_apps=(WEATHER,)), "2026-03-02T12:00", "silence"),
        (Preferences(muted_apps=(AppId("news"),)), "2026-03-02T12:00", "push"),
        (Preferences(quiet_hours=NIGHT), "2026-03-02T12:00", "push"),
        (Preferences(quiet_hours=NIGHT), "2026-03-02T23:00", "2026-03-03T07:00"),
        (Preferences(quiet_hours=NIGHT, digest=False), "2026-03-02T23:00", "silence"),
        (Preferences(quiet_hours=NIGHT, enabled=False), "2026-03-02T23:00", "silence"),
        (Preferences(quiet_hours=NIGHT, digest_hour=9), "2026-03-02T23:00", "2026-03-03T09:00"),
        (Preferences(quiet_hours=NIGHT, digest_hour=7), "2026-03-02T23:00", "2026-03-03T07:00"),
        (Preferences(quiet_hours=NIGHT, digest_hour=21), "2026-03-02T23:00", "2026-03-03T21:00"),
        # an hour that is quiet itself would hold it back for ever
        (Preferences(quiet_hours=NIGHT, digest_hour=3), "2026-03-02T23:00", "2026-03-03T07:00"),
        (
            Preferences(quiet_hours=NOON_BREAK, digest_hour=9),
            "2026-03-02T12:30",
            "2026-03-03T09:00",
        ),
    ],
)
def test_preferences_decide_how_a_push_is_delivered_t16(
    preferences: Preferences, now: str, decision: str
):
    expected: DeliveryDecision = decision if decision in ("push", "silence") else at(decision)  # type: ignore[assignment]  # one of the two literals

    assert decide_delivery(preferences, WEATHER, zone=BERLIN, now=at(now)) == expected


@given(hours=HOURS, zone=ZONES, now=NOWS, hour=st.none() | st.integers(0, 23))
def test_a_deferred_push_is_due_outside_quiet_hours_t16(
    hours: QuietHours, zone: ZoneInfo, now: datetime, hour: int | None
):
    preferences = Preferences(quiet_hours=hours, digest_hour=hour)

    decision = decide_delivery(preferences, WEATHER, zone=zone, now=now)

    if isinstance(decision, datetime):
        assert now < decision
        assert decide_delivery(preferences, WEATHER, zone=zone, now=decision) == "push"


def test_an_unknown_zone_counts_as_utc_t16():
    zone = Profile(time_zone="Mars/Olympus").zone

    until = find_quiet_end(NIGHT, zone=zone, now=datetime(2026, 3, 2, 23, tzinfo=UTC))

    assert until == datetime(2026, 3, 3, 7, tzinfo=UTC)
