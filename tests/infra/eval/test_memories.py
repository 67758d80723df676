"""P14, C59, C62: the gold set is sound, and the offline extractor keeps its figures on it."""

import anyio
import pytest

from infra.eval.gold import LANGUAGES, Fact, Score, Talk, conversation, score, talks, total
from infra.eval.memories import evaluate, table
from shared.adapters.offline_model import OfflineModel
from shared.adapters.sqlite_database import SqliteDatabase
from shared.domain.ids import MemoryId
from shared.domain.memory import Memory
from tests.functions.process_conversation.world import START, world_on

TALKS = talks()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What production's processing makes of the whole set."""
    database = SqliteDatabase(tmp_path_factory.mktemp("gold") / "keepsake.db")
    yield anyio.run(evaluate, world_on(database, OfflineModel()).deps, TALKS, lambda *_: None)
    database.close()


def test_there_are_twelve_talks_a_language():
    assert [sum(t.language == name for t in TALKS) for name in LANGUAGES] == [12] * 5


@pytest.mark.parametrize("talk", TALKS, ids=lambda t: f"{t.language}-{t.trap}")
def test_every_expected_fact_stands_in_the_owners_words(talk: Talk):
    said = conversation(talk).spoken

    assert len(said) == len(talk.lines)
    assert len(talk.expected) <= 2
    for fact in talk.expected:
        for segment in fact.segments:
            assert said[segment].is_user
            assert any(term in said[segment].text for term in fact.terms)


def memory(content: str, segment: int) -> Memory:
    return Memory(
        id=MemoryId(content),
        content=content,
        category="system",
        created_at=START,
        updated_at=START,
        segment=segment,
    )


def test_a_memory_counts_with_its_terms_from_its_segment():
    talk = Talk(
        language="en",
        half="tuned",
        trap="repeat",
        lines=("ME: I live in Oslo.", "ANN: Hm?", "ME: I live in Oslo."),
        expected=(Fact(segments=(0, 2), terms=("Oslo",)),),
    )

    assert score(talk, [memory("User lives in OSLO", 2)]) == Score(found=1, expected=1, right=1)
    assert score(talk, [memory("User lives in Oslo", 1)]) == Score(found=1, expected=1)
    assert score(talk, [memory("User lives here", 0)]) == Score(found=1, expected=1)
    assert (Score(found=4, expected=2, right=1).precision, Score(expected=2).recall) == (0.25, 0)


def test_the_offline_extractor_keeps_its_figures_p14(results):
    """Floors lie a little under what was reached; the second half was never tuned on."""
    everything = total(results)
    held_out = total([one for one in results if one[0].half == "held out"])

    assert everything.precision >= 0.94
    assert everything.recall >= 0.88
    assert held_out.precision >= 0.9
    assert held_out.recall >= 0.75
    for language in LANGUAGES:
        spoken = total([one for one in results if one[0].language == language])
        assert spoken.precision >= 0.8
        assert spoken.recall >= 0.8


def test_the_table_names_every_language_half_and_trap(results):
    rows = "\n".join(table(results))

    for name in ("all", "held out", "tuned", *LANGUAGES, *{talk.trap for talk in TALKS}):
        assert f"\n{name} " in rows
