"""Evaluation of what people in danger get: its table counts what verdicts add (G1)."""

from infra.eval.crisis import count, list_misses, render_table
from infra.eval.crisis_gold import GoldMessage
from shared.domain.chats.crisis import CLEAR, CrisisVerdict

MESSAGES = [
    GoldMessage(id="en-unseen-1", kind="crisis", level=3, text="a"),
    GoldMessage(id="en-unseen-2", kind="beside", level=2, text="b"),
    GoldMessage(id="de-unseen-3", kind="child", level=2, text="c"),
    GoldMessage(id="de-unseen-4", kind="crisis", level=1, text="d"),
    GoldMessage(id="de-unseen-5", kind="joke", level=0, text="e"),
    GoldMessage(id="de-unseen-6", kind="ordinary", level=0, text="f"),
]
TOLD = CrisisVerdict(adds_contacts=True)
VERDICTS = {
    message.id: verdict
    for message, verdict in zip(
        MESSAGES,
        [CrisisVerdict(level=3), TOLD, CLEAR, CrisisVerdict(level=1), TOLD, CLEAR],
        strict=True,
    )
}


def test_caught_is_who_gets_people_to_call_or_the_plan_g1():
    counts = count(MESSAGES, VERDICTS)

    assert (counts.grave, counts.called, counts.planned, counts.caught) == (3, 1, 1, 2)
    assert (counts.mild, counts.mild_told, counts.others, counts.false) == (1, 1, 2, 1)


def test_the_table_has_a_line_for_each_set_language_and_kind_and_misses_are_named_without_words_g1():
    lines = list(render_table(MESSAGES, VERDICTS))

    assert [line.split()[0] for line in lines[1:4]] == ["unseen", "en", "de"]
    assert lines[-1].split() == ["all", "3", "1", "1", "67%", "1", "1", "2", "1"]
    assert list(list_misses(MESSAGES, VERDICTS)) == [
        "missed: de-unseen-3, child, level 2",
        "false: de-unseen-5, joke",
    ]
