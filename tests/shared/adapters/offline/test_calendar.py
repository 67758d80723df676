"""Calendar of the offline model: the day that a sentence names."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from shared.adapters.embedded.offline.calendar import find_span, parse_moment

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
        ("Ich schicke es am 15. Dezember.", date(2026, 12, 15)),
        ("Lo envío el 3 de enero.", date(2027, 1, 3)),
        ("Je viens le 1er mars.", date(2027, 3, 1)),
        ("Lo mando il 2 febbraio.", date(2027, 2, 2)),
        ("12月5日に送ります。", date(2026, 12, 5)),
        ("We meet on 4 May 2028.", date(2028, 5, 4)),
        ("It is due 2026-12-31.", date(2026, 12, 31)),
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
        "We met on 4 May 2024.",
        "Version 1.2. is out",
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
        ("on 29 February", NOW.replace(year=2028, month=2), None),
        ("on 29 February", NOW, None),
    ],
)
def test_a_date_is_the_last_such_day_that_has_begun(text, now, found):
    span = find_span(text, now, is_past=True)

    assert (span and (span.phrase, span.start.date())) == found
    assert span is None or span.end - span.start == timedelta(1)
