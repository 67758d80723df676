"""Calendar of the offline model: the day that a sentence names."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from shared.adapters.embedded.offline.calendar import find_past_date, parse_moment

NOW = datetime(2026, 11, 25, 10, tzinfo=ZoneInfo("Europe/Berlin"))  # a Wednesday


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I'll bring the drill on Sunday the 6th.", date(2026, 12, 6)),
        ("They come on Sunday, the 6th, not Saturday.", date(2026, 12, 6)),
        ("The recital is on the 18th at five.", date(2026, 12, 18)),
        ("I can take it until the 26th.", date(2026, 11, 26)),
        ("Pay it by the 25th.", date(2026, 11, 25)),
        ("I'll send it by the 31st.", date(2026, 12, 31)),
        ("The MRI is on the second of December.", date(2026, 12, 2)),
        ("Her birthday is the twenty-first of January.", date(2027, 1, 21)),
        ("It is on December the 5th.", date(2026, 12, 5)),
        ("I will fix it by Thursday next week.", date(2026, 12, 3)),
        ("I will fix it next week on Monday.", date(2026, 11, 30)),
        ("I will fix it next week.", date(2026, 12, 2)),
        ("I will fix it by Thursday.", date(2026, 11, 26)),
    ],
)
def test_a_sentence_names_a_day(text, day):
    moment = parse_moment(text, NOW)

    assert moment is not None
    assert moment.at.date() == day


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("Water the ferns on Thursday at 8 in the evening", (20, 0)),
        ("Call them tomorrow at 9 o'clock in the morning", (9, 0)),
        ("Call them tomorrow at 12 at night", (0, 0)),
        ("Call them tomorrow at 3", (15, 0)),
        ("Call them tomorrow at 7:15", (7, 15)),
        ("Call them tomorrow at 12 p.m.", (12, 0)),
        ("Ruf morgen um 7 Uhr abends an", (19, 0)),
        ("Ruf morgen um 7 Uhr früh an", (7, 0)),
        ("Ruf morgen um 18.30 Uhr an", (18, 30)),
        ("Llama mañana a las 8 de la tarde", (20, 0)),
        ("Llama el jueves a las 8 de la mañana", (8, 0)),
        ("Appelle demain à 20 h", (20, 0)),
        ("Appelle demain à 8h30 du soir", (20, 30)),
        ("Appelle demain à 9 heures du matin", (9, 0)),
        ("Chiama domani alle 9 di sera", (21, 0)),
        ("木曜日の午後8時に電話する", (20, 0)),
        ("明日の夜2時に電話する", (2, 0)),
    ],
)
def test_an_hour_has_its_part_of_the_day(text, hour):
    moment = parse_moment(text, NOW)

    assert moment is not None
    assert moment.exact
    assert (moment.at.hour, moment.at.minute) == hour


@pytest.mark.parametrize(
    "text",
    [
        "We live on the 5th floor.",
        "It was on the 2nd try.",
        "the second of three",
        "by the 32nd",
        "0 December",
    ],
)
def test_a_number_that_counts_something_names_no_day(text):
    assert parse_moment(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "now", "found"),
    [
        ("on November 25th", NOW, ("November 25th", date(2026, 11, 25))),
        ("on 26 November", NOW, ("26 November", date(2025, 11, 26))),
        ("on 1 January", NOW, ("1 January", date(2026, 1, 1))),
        ("on 29 February", NOW.replace(year=2028, month=2), ("29 February", date(2027, 2, 28))),
        ("on 29 February", NOW, None),
        ("on Monday", NOW, None),
    ],
)
def test_a_date_is_the_last_such_day_that_has_begun(text, now, found):
    assert find_past_date(text, now) == found
