"""Gold talks of extraction: they are sound, and the offline model keeps its figures on their English part (I2)."""

from zoneinfo import ZoneInfo

import anyio
import pytest

from functions.process_conversation.processing.scraps import is_scrap
from infra.eval.extraction import evaluate, render_table
from infra.eval.talks import LANGUAGES, Talk, Tally, build_conversation, load_talks
from infra.eval.tape import Tape, load_tape
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.domain.wall_clock import EVENING, read_wall_clock
from tests.fixtures.processing import build_processing_fixture
from tests.fixtures.storage import open_database

TALKS = load_talks()
ENGLISH = [talk for talk in TALKS if talk.language == "en"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Run production's processing with the offline model, and keep its answers."""
    tape = Tape()
    with open_database(tmp_path_factory.mktemp("talks")) as database:
        fixture = build_processing_fixture(database, OfflineModel())
        return tape, anyio.run(evaluate, fixture.deps, TALKS, tape, lambda *_: None)


def test_there_are_sixty_talks_in_six_languages_and_three_zones_i2():
    assert [sum(talk.language == name for talk in TALKS) for name in LANGUAGES] == [10] * 6
    assert len({talk.zone for talk in TALKS}) == 3
    assert sum(talk.half == "held out" for talk in TALKS) == 30


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.id)
def test_what_is_expected_was_said_and_lies_ahead_i2(talk: Talk):
    segments = build_conversation(talk).transcript_segments
    spoken = " ".join(segment.text for segment in segments).casefold()
    own = " ".join(segment.text for segment in segments if segment.is_user).casefold()
    zone = ZoneInfo(talk.zone)

    for terms in [*(task.terms for task in talk.tasks), *(event.terms for event in talk.events)]:
        assert all(term.casefold() in spoken for term in terms)
    for memory in talk.keep:
        assert all(term.casefold() in own for term in memory.terms)
    for word in talk.drop:
        assert word.casefold() in spoken
    for written in [task.due for task in talk.tasks if task.due] + [e.start for e in talk.events]:
        due = read_wall_clock(written, zone, EVENING)
        assert due is not None
        assert due > talk.started_at
    assert is_scrap(segment.text for segment in segments) == talk.discarded


def test_the_offline_model_keeps_its_figures_in_english_i2(measured):
    english = sum_tallies(measured[1], "en")

    assert english.task_f1 >= 0.85
    assert english.right_owners == english.right_dues == english.found_tasks == 4
    assert (english.kept_memories, english.wrong_memories, english.kept_scraps) == (2, 0, 0)


def test_nothing_is_lost_or_made_up_in_any_language_i4(measured):
    everything = sum((tally for _, tally in measured[1]), Tally())

    assert (everything.lost, everything.wrong_memories) == (0, 0)
    assert everything.calls <= len(TALKS) + sum(talk.discarded for talk in TALKS)
    assert everything.input_tokens / everything.calls < 1_500


async def test_recorded_answers_come_to_the_same_figures(measured, database, tmp_path):
    tape, results = measured
    tape.write(tmp_path / "tape.json")
    played = load_tape(tmp_path / "tape.json")
    fixture = build_processing_fixture(database, OfflineModel())

    again = await evaluate(fixture.deps, ENGLISH, played, lambda *_: None)

    assert sum_tallies(again, "en") == sum_tallies(results, "en")


def test_the_table_names_every_language_zone_half_and_trap(measured):
    rows = "\n".join(render_table(measured[1]))

    names = {name for t in TALKS for name in (t.language, t.zone, t.half, t.trap)}
    assert all(f"\n{name} " in rows for name in names)


def sum_tallies(results, language: str) -> Tally:
    return sum((tally for talk, tally in results if talk.language == language), Tally())
