"""Gold set of memories: it is sound, and the offline model keeps its figures on its English part."""

import anyio
import pytest

from infra.eval.gold import (
    LANGUAGES,
    ExpectedFact,
    GoldTalk,
    Score,
    build_conversation,
    load_talks,
    score_memories,
    sum_scores,
)
from infra.eval.memories import evaluate, render_table
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.domain.ids import MemoryId
from shared.domain.memories.memory import Memory
from tests.fixtures.processing import START, build_processing_fixture
from tests.fixtures.storage import open_database

TALKS = load_talks()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Run production's processing with the offline model over the whole set."""
    with open_database(tmp_path_factory.mktemp("gold")) as database:
        fixture = build_processing_fixture(database, OfflineModel())
        return anyio.run(evaluate, fixture.deps, TALKS, lambda *_: None)


def test_there_are_twelve_talks_a_language():
    assert [sum(t.language == name for t in TALKS) for name in LANGUAGES] == [12] * 5


@pytest.mark.parametrize("talk", TALKS, ids=lambda t: f"{t.language}-{t.trap}")
def test_every_expected_fact_is_in_the_owners_text(talk: GoldTalk):
    segments = build_conversation(talk).named_segments

    assert len(segments) == len(talk.lines)
    assert len(talk.expected) <= 2
    for fact in talk.expected:
        for segment in fact.segments:
            assert segments[segment].is_user
            assert any(term in segments[segment].text for term in fact.terms)


def build_memory(content: str, segment: int) -> Memory:
    return Memory(
        id=MemoryId(content),
        content=content,
        category="system",
        created_at=START,
        updated_at=START,
        segment=segment,
    )


def test_a_memory_counts_with_its_terms_from_its_segment():
    talk = GoldTalk(
        language="en",
        half="tuned",
        trap="repeat",
        lines=("ME: I live in Oslo.", "ANN: Hm?", "ME: I live in Oslo."),
        expected=(ExpectedFact(segments=(0, 2), terms=("Oslo",)),),
    )

    assert score_memories(talk, [build_memory("User lives in OSLO", 2)]) == Score(
        extracted=1, expected=1, correct=1
    )
    assert score_memories(talk, [build_memory("User lives in Oslo", 1)]) == Score(
        extracted=1, expected=1
    )
    assert score_memories(talk, [build_memory("User lives here", 0)]) == Score(
        extracted=1, expected=1
    )
    assert (Score(extracted=4, expected=2, correct=1).precision, Score(expected=2).recall) == (
        0.25,
        0,
    )


def test_the_offline_model_stays_above_its_minimum_scores_in_english_p14(results):
    """The bounds are a little below the scores reached; the second half is never tuned on."""
    english = [result for result in results if result[0].language == "en"]
    held_out = sum_scores([result for result in english if result[0].half == "held out"])

    assert sum_scores(english).precision >= 0.94
    assert sum_scores(english).recall >= 0.8
    assert held_out.precision >= 0.9
    assert held_out.recall >= 0.75


def test_the_offline_model_invents_nothing_in_other_languages_p14(results):
    others = sum_scores([result for result in results if result[0].language != "en"])

    assert others.extracted == others.correct


def test_the_table_names_every_language_half_and_trap(results):
    rows = "\n".join(render_table(results))

    for name in ("all", "held out", "tuned", *LANGUAGES, *{talk.trap for talk in TALKS}):
        assert f"\n{name} " in rows
