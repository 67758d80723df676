"""Write policy: a statement is never written sooner than it was wanted, or than its kind allows (C62)."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.library.write_policy import StatementKind, WriteTiming, decide_timing

TIMINGS = get_args(WriteTiming)
KINDS = get_args(StatementKind)
WANTED_AND_WRITTEN = [
    ("I'm allergic to peanuts", "now", "lasting", "now"),
    ("I moved to Porto", "end", "lasting", "end"),
    ("I think I like jazz these days", "repeat", "lasting", "repeat"),
    ("My PIN is 4711", "drop", "lasting", "drop"),
    ("For now I live with my sister", "now", "for_now", "drop"),
    ("Just today I take the bus", "end", "for_now", "drop"),
    ("I'll marry my coffee machine", "now", "joke", "drop"),
    ("If I were rich I'd buy a boat", "now", "idea", "drop"),
    ("Am I diabetic?", "now", "question", "drop"),
    ("Ann says I am a vegetarian", "now", "quotation", "drop"),
    ("Maybe I'll become a nurse", "now", "guess", "drop"),
    ("We passed the opera", "now", "mention", "drop"),
    ("Forget what I said about Ann", "now", "command", "drop"),
    ("Never tell me to see a doctor", "now", "unsafe", "drop"),
    ("I'm useless at everything", "now", "self_doubt", "repeat"),
    ("I'm a bad mother", "end", "self_doubt", "repeat"),
    ("I'm a failure", "drop", "self_doubt", "drop"),
]


@pytest.mark.parametrize(("_said", "wanted", "kind", "written"), WANTED_AND_WRITTEN)
def test_the_kind_of_a_statement_decides_with_what_is_wanted_c62(_said, wanted, kind, written):
    assert decide_timing(wanted, kind) == written


def test_every_kind_stands_in_the_table():
    assert {kind for _, _, kind, _ in WANTED_AND_WRITTEN} == set(KINDS)


@given(st.sampled_from(TIMINGS), st.sampled_from(KINDS))
def test_nothing_is_written_sooner_than_wanted_or_than_its_kind_allows_c62(wanted, kind):
    written = TIMINGS.index(decide_timing(wanted, kind))
    soonest = TIMINGS.index(decide_timing("now", kind))

    assert written == max(soonest, TIMINGS.index(wanted))
