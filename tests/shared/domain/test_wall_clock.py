"""Time is told to models and read from them by the clock at home; code adds the zone (I2)."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from shared.domain.wall_clock import (
    EVENING,
    list_days_ahead,
    localize,
    read_day_ahead,
    read_wall_clock,
    write_wall_clock,
)

LOS_ANGELES, BERLIN, TOKYO = map(ZoneInfo, ("America/Los_Angeles", "Europe/Berlin", "Asia/Tokyo"))


@pytest.mark.parametrize(
    ("moment", "zone", "written", "tomorrow"),
    [
        (datetime(2026, 11, 28, 4, tzinfo=UTC), LOS_ANGELES, "Friday 2026-11-27 20:00", "Sat 28"),
        (datetime(2026, 11, 27, 23, 30, tzinfo=UTC), TOKYO, "Saturday 2026-11-28 08:30", "Sun 29"),
        (datetime(2026, 10, 24, 22, 30, tzinfo=UTC), BERLIN, "Sunday 2026-10-25 00:30", "Mon 26"),
    ],
)  # fmt: skip
def test_a_moment_has_its_weekday_and_the_days_ahead_i2(moment, zone, written, tomorrow):
    days = re.findall(r"[A-Z]\w\w \d\d?", list_days_ahead(moment, zone))

    assert write_wall_clock(moment, zone) == written
    assert (days[0], len(days), len(set(days))) == (tomorrow, 14, 14)


@pytest.mark.parametrize(
    ("text", "zone", "moment"),
    [
        ("2026-11-30 18:00", LOS_ANGELES, datetime(2026, 12, 1, 2, tzinfo=UTC)),
        ("2026-11-30", LOS_ANGELES, datetime(2026, 12, 1, 2, tzinfo=UTC)),
        ("Monday 2026-11-30", TOKYO, datetime(2026, 11, 30, 9, tzinfo=UTC)),
        ("2026-11-30T18:00:00Z", TOKYO, datetime(2026, 11, 30, 9, tzinfo=UTC)),
        ("2026-11-30T18:00:00+01:00", TOKYO, datetime(2026, 11, 30, 9, tzinfo=UTC)),
        ("2026-11-30, at 8.05", BERLIN, datetime(2026, 11, 30, 7, 5, tzinfo=UTC)),
        ("2026-10-24", BERLIN, datetime(2026, 10, 24, 16, tzinfo=UTC)),
        ("2026-10-25", BERLIN, datetime(2026, 10, 25, 17, tzinfo=UTC)),
        ("2026-10-25 02:30", BERLIN, datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),
        ("2027-03-14 02:30", LOS_ANGELES, datetime(2027, 3, 14, 10, 30, tzinfo=UTC)),
        ("2026-11-30 6:00 PM", BERLIN, datetime(2026, 11, 30, 17, tzinfo=UTC)),
        ("2026-11-30 at 3:30:00 p.m.", BERLIN, datetime(2026, 11, 30, 14, 30, tzinfo=UTC)),
        ("2026-11-30 12:15 am", BERLIN, datetime(2026, 11, 29, 23, 15, tzinfo=UTC)),
        ("2026-11-30 12 p.m.", BERLIN, datetime(2026, 11, 30, 11, tzinfo=UTC)),
        ("2026-11-30 18:00 PM", BERLIN, datetime(2026, 11, 30, 17, tzinfo=UTC)),
        ("2026-11-30 9 am", BERLIN, datetime(2026, 11, 30, 8, tzinfo=UTC)),
        ("2026-11-30 at 9", BERLIN, datetime(2026, 11, 30, 8, tzinfo=UTC)),
        ("2026-11-30T09", BERLIN, datetime(2026, 11, 30, 8, tzinfo=UTC)),
        ("2026-11-30T09Z", BERLIN, datetime(2026, 11, 30, 8, tzinfo=UTC)),
        ("2026-11-30 à 09h30", BERLIN, datetime(2026, 11, 30, 8, 30, tzinfo=UTC)),
        ("2026-11-30 (Mon) 09:30", BERLIN, datetime(2026, 11, 30, 8, 30, tzinfo=UTC)),
        ("2026-11-30 (Mon)", BERLIN, datetime(2026, 11, 30, 17, tzinfo=UTC)),
        ("2026/11/30 18:00", BERLIN, datetime(2026, 11, 30, 17, tzinfo=UTC)),
        ("２０２６-11-30 18：00", BERLIN, datetime(2026, 11, 30, 17, tzinfo=UTC)),
        ("2026年11月30日 18:00", BERLIN, datetime(2026, 11, 30, 17, tzinfo=UTC)),
        ("2026-11-30 24:00", BERLIN, datetime(2026, 11, 30, 22, 59, tzinfo=UTC)),
        ("30.11.2026", BERLIN, datetime(2026, 11, 30, 17, tzinfo=UTC)),
        ("5. 1. 2027 09:30", BERLIN, datetime(2027, 1, 5, 8, 30, tzinfo=UTC)),
        ("2026-10-25 18 Uhr", BERLIN, datetime(2026, 10, 25, 17, tzinfo=UTC)),
        ("2026-11-30 um 18 Uhr 30", BERLIN, datetime(2026, 11, 30, 17, 30, tzinfo=UTC)),
        ("2026-11-30 at 9 o'clock", BERLIN, datetime(2026, 11, 30, 8, tzinfo=UTC)),
        ("2026-11-30 18 h 30", BERLIN, datetime(2026, 11, 30, 17, 30, tzinfo=UTC)),
        ("2026年11月30日 午後6時", TOKYO, datetime(2026, 11, 30, 9, tzinfo=UTC)),
        ("2026-11-30 下午6点30分", TOKYO, datetime(2026, 11, 30, 9, 30, tzinfo=UTC)),
        ("2026-11-30 오전 9시", TOKYO, datetime(2026, 11, 30, 0, tzinfo=UTC)),
        ("2026-11-30 in 12 hours", BERLIN, None),
        ("11/30/2026", BERLIN, None),
        ("2026-11-30 in 2 hours", BERLIN, None),
        ("2026-11-30+01:00", BERLIN, None),
        ("2026-11-30 or 2026-12-01", BERLIN, None),
        ("2026-02-30", BERLIN, None),
        ("2026-11-30 09:00 (午後に確認)", BERLIN, datetime(2026, 11, 30, 8, tzinfo=UTC)),
        ("2026-11-30 25:00", BERLIN, None),
        ("0001-01-01 00:00", TOKYO, None),
        ("tomorrow", BERLIN, None),
        ("", BERLIN, None),
        (None, BERLIN, None),
    ],
)
def test_a_wall_clock_is_read_in_its_zone_over_clock_changes_i2(text, zone, moment):
    assert read_wall_clock(text, zone, EVENING) == moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-30", None),
        ("2026-11-30 (Mon)", None),
        ("2026-11-30 09:30", datetime(2026, 11, 30, 8, 30, tzinfo=UTC)),
    ],
)
def test_a_day_alone_is_no_moment_where_an_hour_has_to_be_stated_i2(text, moment):
    assert read_wall_clock(text, BERLIN) == moment


@pytest.mark.parametrize(
    ("text", "zone", "local"),
    [
        ("2026-03-01T22:25:44.774Z", BERLIN, "2026-03-01T23:25:44+01:00"),
        ("2026-03-29T01:00:00Z", BERLIN, "2026-03-29T03:00:00+02:00"),
        ("Mon, 2 Mar 2026 08:15:00 +0100 (CET)", TOKYO, "2026-03-02T16:15:00+09:00"),
        ("Mon, 2 Mar 2026 08:15:00 GMT", TOKYO, "2026-03-02T17:15:00+09:00"),
        ("Mon, 2 Mar 2026 08:15:00 -0000", TOKYO, "2026-03-02T17:15:00+09:00"),
        *((text, TOKYO, text) for text in (
            "2026-03-01", "2026-03-01T22:25:44", "Mon, 2 Mar 2026 08:15:00", "Mon, 99 Mar 2026 08:15 +0100",
            "9999-12-31T23:00:00Z", "0001-01-01T00:00:00+09:30", "May I come at 8?", "", "x" * 100_000,
        )),
    ],
)  # fmt: skip
def test_a_time_with_its_offset_is_written_by_the_zones_clock_and_other_text_stays_i2(
    text, zone, local
):
    assert localize(text, zone) == local


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Mon 30", "2026-11-30 18:00"),
        ("Monday", "2026-11-30 18:00"),
        ("on Monday at 9:30", "2026-11-30 09:30"),
        ("Monday, November 30th, 2026", "2026-11-30 18:00"),
        ("30 Nov, 5 pm", "2026-11-30 17:00"),
        ("11/30/2026", "2026-11-30 18:00"),
        ("30/11/2026 08:15", "2026-11-30 08:15"),
        ("30.11.", "2026-11-30 18:00"),
        ("12/1", "2026-12-01 18:00"),
        ("1.12.26", None),
        ("Tue 8", "2026-12-08 18:00"),
        ("Tuesday 9", None),
        ("2026-11: Mon 30", "2026-11-30 18:00"),
        ("in 3 days", None),
        ("30", None),
        ("November 2026", None),
        ("9:30", None),
        ("25:00 Monday", None),
        ("12/24/2026", None),
        ("tomorrow", None),
        ("Montag", "2026-11-30 18:00"),
        ("am Montag um 9 Uhr", "2026-11-30 09:00"),
        ("Montag, den 30. November", "2026-11-30 18:00"),
        ("lundi 30 novembre à 9h30", "2026-11-30 09:30"),
        ("el martes 1 de diciembre", "2026-12-01 18:00"),
        ("sexta-feira, 4 de dezembro", "2026-12-04 18:00"),
        ("12月1日", "2026-12-01 18:00"),
        ("月曜日 18時30分", "2026-11-30 18:30"),
        ("星期五", "2026-12-04 18:00"),
        ("dimanche 30", None),
        ("Montag um 9", "2026-11-30 09:00"),
        ("Monday at 9", "2026-11-30 09:00"),
        ("Mar 1", None),
        ("heute in 14 Tagen", None),
        ("à la fin du mois", None),
        ("明後日", None),
        ("12 hours from Monday", None),
        ("", None),
        (None, None),
    ],
)
def test_a_day_ahead_is_read_in_other_forms_i2(text, read):
    evening = datetime(2026, 11, 28, 4, tzinfo=UTC)  # Friday 27, 20:00

    moment = read_day_ahead(text, evening, LOS_ANGELES, EVENING)

    assert (moment and f"{moment.astimezone(LOS_ANGELES):%Y-%m-%d %H:%M}") == read


def test_a_day_ahead_without_an_hour_is_no_moment_of_an_event_i2():
    assert read_day_ahead("Mon 30", datetime(2026, 11, 28, 4, tzinfo=UTC), LOS_ANGELES) is None
