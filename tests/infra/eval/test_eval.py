"""Retrieval evaluation: its counts, on two invented conversations."""

from collections.abc import Sequence

import pytest

from infra.eval import dense_windows
from infra.eval.baseline import Baseline, pack_windows
from infra.eval.locomo import Question, Turn, parse_questions, parse_start, parse_turns
from infra.eval.metrics import BUDGETS, compute_interval, compute_means, score_ranking
from infra.eval.ours import open_library
from infra.eval.plot import render_svg
from infra.eval.report import REPORTED_METRICS, QuestionResult, render_report
from shared.domain.ids import UserId

PERSON = {
    "sample_id": "p-1",
    "conversation": {
        "session_1_date_time": "1:05 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "The heron stood in the mill pond."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Look", "blip_caption": "a grey bird"},
        ],
        "session_2_date_time": "9:00 am on 9 May, 2023",
        "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "My sister sold her bakery."}],
    },
    "qa": [
        {"question": "Who sold a bakery?", "category": 1, "evidence": ["D2:1; D9:9"]},
        {"question": "Nothing shows this", "category": 5, "evidence": []},
    ],
}
TURNS = parse_turns([PERSON])
QUESTIONS = parse_questions([PERSON], {turn.id for turn in TURNS})


def test_an_image_caption_is_part_of_a_turn():
    assert [turn.line for turn in TURNS][1] == "Ben: Look (image: a grey bird)"
    assert parse_start(TURNS[0].date).isoformat() == "2023-05-08T13:05:00+00:00"


def test_only_evidence_that_exists_counts():
    assert [(q.category, set(q.evidence), q.talks) for q in QUESTIONS] == [
        (1, {("p-1", "D2:1")}, {("p-1", 2)})
    ]


def test_the_baseline_ranks_the_matching_talk_first():
    talks, packed = Baseline(TURNS).rank("Who sold a bakery?")

    assert talks == [("p-1", 2), ("p-1", 1)]
    assert packed[500] == {0, 1, 2}


def _build_turn(n: int) -> Turn:
    return Turn(talk=("p", 1), id=("p", f"D1:{n}"), speaker="A", text="x" * 21, date="")


@pytest.mark.parametrize(
    ("budget", "packed"), [(9, set()), (10, {1}), (29, {1}), (30, {0, 1, 2}), (40, {0, 1, 2, 3})]
)
def test_packing_stops_at_the_first_window_that_does_not_fit(budget: int, packed: set[int]):
    assert pack_windows([[1], [0, 1, 2], [3]], [_build_turn(n) for n in range(4)], budget) == packed


def test_a_question_is_scored_by_its_talks_and_its_turns():
    question = Question(text="?", category=1, evidence=frozenset({("p-1", "D2:1")}))

    row = score_ranking(question, ([("p-1", 1), ("p-1", 2)], {n: {2} for n in BUDGETS}), TURNS)

    assert (row["any@1"], row["all@5"], row["mrr"], row["ev@500"]) == (False, True, 0.5, 1)
    assert score_ranking(question, ([], {n: set() for n in BUDGETS}), TURNS)["mrr"] == 0
    assert compute_means([{"a": 1}, {"a": 0}, {"a": 0}]) == {"a": 33.3}


def test_an_interval_is_reproducible_and_contains_the_mean():
    differences = [1.0, 0.0, 0.0, 1.0, -1.0] * 20

    low, high = compute_interval(differences)

    assert (low, high) == compute_interval(differences)
    assert 0 < low < 20 < high
    assert compute_interval([0.5] * 9) == (50, 50)


async def test_search_finds_the_talk_and_its_turns_in_a_processed_library():
    ticks: list[None] = []
    all_turns = parse_turns([_lengthen(PERSON)])

    async with open_library(all_turns, lambda: ticks.append(None)) as searches:
        talks, packed = await searches["words"].rank("Who sold a bakery?")

    assert list(searches) == ["words"]

    assert len(ticks) == 2
    assert talks[0] == ("p-1", 2)
    assert "bakery" in "".join(all_turns[n].text for n in packed[500])
    assert packed[500] <= packed[1_000]


def _lengthen(person):
    """Make a conversation long enough that it is not judged for discarding."""
    talks = {
        name: [
            {**session[0], "text": f"{session[0]['text']} {'And so it went on. ' * 30}"},
            *session[1:],
        ]
        for name, session in person["conversation"].items()
        if isinstance(session, list)
    }
    return {**person, "conversation": {**person["conversation"], **talks}}


def test_a_report_compares_each_ranking_with_the_baseline():
    plain, better = (dict.fromkeys(REPORTED_METRICS, value) for value in (0.0, 1.0))
    results = [
        QuestionResult(QUESTIONS[0], {"baseline": plain, "words": better}, {"words": 2.0})
    ] * 4

    lines = list(render_report(results))

    assert lines[0].startswith("cat1-4, n=4: baseline, words")
    assert lines[1].split() == ["any@1", "0.0", "100.0", "[+100.0,", "+100.0]"]
    assert any(line.split() == ["p-1", *["+100.0"] * 5] for line in lines)
    assert lines[-1] == "words: p50 2.0 ms, p95 2.0 ms"


def test_a_plot_shows_each_ranking():
    rankings = {"baseline": {"mrr": 50.0}, "words": {"mrr": 75.0}, "more": {"mrr": 80.0}}

    drawn = render_svg([("Alone", rankings)])

    assert drawn.count("<rect") == 3
    assert all(name in drawn for name in ("Alone", *rankings))


class LetterEmbedder:
    """Counts the letters of a text."""

    name = "letters"
    embeds_later = False

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        return [[1.0 + text.lower().count(letter) for letter in "abcdefgh"] for text in texts]

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        [vector] = await self.embed(uid, [question])
        return vector


async def test_windows_are_compared_with_the_smallest_d4():
    question = {"question": "Where did the heron stand?", "category": 1, "evidence": ["D1:1"]}

    scores = await dense_windows.evaluate([[{**PERSON, "qa": [question]}]], LetterEmbedder())
    head, _, *table = dense_windows.render("alone", scores)

    assert head.startswith("| alone, 1 questions | any@1 |")
    assert table[0].startswith("| 150 characters, 384 dimensions | 100.0 [+0.0, +0.0] |")
    assert len(table) == len(dense_windows.WINDOWS) * len(dense_windows.DIMENSIONS)
