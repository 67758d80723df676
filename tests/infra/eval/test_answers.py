"""Evaluation of answers: its counts, on invented conversations (E3)."""

from dataclasses import replace

import pytest

from infra.eval.answers import (
    GoldQuestion,
    ScriptedReader,
    ask,
    measure_gold,
    parse_gold,
    render_table,
    score,
)
from infra.eval.locomo import parse_turns
from infra.eval.ours import fill_library, to_conversation_id
from shared.data.search.search import Search
from tests.fakes import UnmaskedModels
from tests.fixtures.chat import build_chat_fixture

PERSON = {
    "sample_id": "p-1",
    "conversation": {
        "session_1_date_time": "1:05 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "My sister sold her bakery."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Who bought it from her in the end?"},
        ],
        "session_2_date_time": "9:00 am on 9 May, 2023",
        "session_2": [
            {"speaker": "Ben", "dia_id": "D2:1", "text": "The heron stood in the mill pond."}
        ],
    },
    "qa": [
        {
            "question": "What did the sister of Ann sell, a bakery?",
            "answer": "Her bakery",
            "category": 4,
            "evidence": ["D1:1"],
        },
        {
            "question": "Where was the grey bird?",
            "answer": "In a zoo",
            "category": 1,
            "evidence": ["D2:1"],
        },
        {"question": "Nothing shows this", "category": 5, "evidence": []},
    ],
}


@pytest.mark.parametrize(
    ("gold", "text", "share"),
    [
        ("7 May 2023", "on May 7", 2 / 3),
        ("Her bakery", "She sold the bakeries", 1),
        ("", "", 0),
    ],
)
def test_the_share_of_a_gold_answer_counts_words_in_any_form(
    gold: str, text: str, share: float
) -> None:
    assert measure_gold(gold, text) == pytest.approx(share)


async def test_an_answer_is_scored_by_calls_words_and_what_it_cites() -> None:
    first, second = parse_gold([PERSON])
    results = []

    async with fill_library(parse_turns([PERSON]), lambda: None, None) as library:
        database, documents, vectors = library
        world = build_chat_fixture(database, documents)
        for number, question in enumerate([first, second]):
            reader = ScriptedReader(gold=question)
            deps = replace(
                world.deps(quotas={}),
                model=UnmaskedModels(model=reader),
                search=Search(documents, vectors),
            )
            answer = await ask(deps, number, question)
            results.append(score(question, answer, calls=reader.calls, tokens=9, s=0.1))

    assert first == GoldQuestion(
        text="What did the sister of Ann sell, a bakery?",
        answer="Her bakery",
        category=4,
        evidence=frozenset({to_conversation_id(("p-1", 1))}),
    )
    assert [(r.calls, r.holds_gold, r.has_evidence, r.cites_evidence) for r in results] == [
        (1, True, True, True),
        (2, False, False, False),
    ]
    assert "50.0 %" in render_table(results)[1]
