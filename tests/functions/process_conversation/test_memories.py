"""Memory selection: what is stored of a model's memories, whatever it answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.processing.memory_selection import (
    MAX_HELD,
    MAX_HELD_PER_CONVERSATION,
    MAX_REPEATED,
    select_candidates,
)
from functions.process_conversation.processing.memory_selection import (
    decide_memories as decide_candidates,
)
from functions.process_conversation.processing.model_outputs import MemoryOutput
from shared.domain.conversations.derived_ids import DerivedIds
from shared.domain.ids import MemoryId
from shared.domain.memories.memory import HOLD_TIME, Memory
from shared.library.reconcile import Reconciliation
from tests.fixtures.processing import START, build_memory_output, build_test_conversation

CONVERSATION = build_test_conversation(
    "I'm allergic to peanuts. I live in Bergen, by the sea.", "I love jazz."
)
IDS = DerivedIds(conversation_ids=CONVERSATION.family)


def select_and_decide(answer, conversation, known_memories) -> Reconciliation:
    shown_ids = [memory.id for memory in known_memories]
    identified = [each.identify(shown_ids) for each in answer]
    return decide_candidates(select_candidates(identified, conversation, IDS), known_memories)


def parse_outputs(*outputs):
    return [MemoryOutput.model_validate(output) for output in outputs]


def keep_contents(*outputs, known_memories=()):
    answer = parse_outputs(*outputs)
    return [m.content for m in select_and_decide(answer, CONVERSATION, known_memories).memories]


def build_known_memory(content):
    return Memory(
        id=MemoryId(f"m {content}"),
        content=content,
        category="system",
        created_at=START,
        updated_at=START,
    )


def test_a_fact_is_kept_with_its_evidence_p14():
    answer = parse_outputs(build_memory_output())

    (fact,) = select_and_decide(answer, CONVERSATION, []).memories

    assert (fact.content, fact.category) == ("User is allergic to peanuts", "system")
    assert (fact.evidence, fact.segment) == ("I'm allergic to peanuts", 0)
    assert fact.conversation_id == CONVERSATION.id
    assert fact.visibility == "private"


@pytest.mark.parametrize(
    "changes",
    [
        {"evidence": "I'm allergic to nuts"},
        {"evidence": "i'm allergic to peanuts"},
        {"evidence": ""},
        {"evidence": " "},
        {"segment": 1},
        {"segment": 99},
        {"segment": -3},
        {"category": "manual"},
        {"category": "gossip"},
        {"content": ""},
        {"content": "…"},
        {"content": "word " * 16},
    ],
)
def test_a_fact_with_invalid_evidence_segment_category_or_length_is_dropped_p14(changes):
    assert keep_contents(build_memory_output(**changes)) == []


def test_a_fact_of_fifteen_words_is_kept_p14():
    content = " ".join(f"w{n}" for n in range(15))

    assert keep_contents(build_memory_output(content)) == [content]


def test_what_another_speaker_likes_is_not_stored_about_the_user_p14():
    jazz = {"segment": 1, "evidence": "I love jazz"}

    assert keep_contents(build_memory_output("User loves jazz", **jazz)) == []
    assert keep_contents(build_memory_output("Jo: jazz calms", category="interesting", **jazz)) == [
        "Jo: jazz calms"
    ]


@pytest.mark.parametrize(
    "kind", ["for_now", "joke", "idea", "question", "quotation", "guess", "hearsay", None]
)
@pytest.mark.parametrize("category", ["system", "interesting"])
def test_a_transient_or_unserious_statement_is_dropped_c62(kind, category):
    is_advice = category == "interesting" and kind == "quotation"

    contents = keep_contents(build_memory_output(kind=kind, category=category))

    assert contents == ["User is allergic to peanuts"] * is_advice


@pytest.mark.parametrize(
    ("timing", "state"),
    [("now", "current"), ("end", "current"), ("repeat", "held"), ("drop", None), ("later", "held")],
)
def test_a_conversation_writes_what_may_be_written_at_its_end_c62(timing, state):
    answer = parse_outputs(build_memory_output(timing=timing))

    memories = select_and_decide(answer, CONVERSATION, []).memories

    states = ["held" if memory.is_held else "current" for memory in memories]
    assert states == [state] * (state is not None)
    assert all(memory.is_current != memory.is_held for memory in memories)


def test_self_doubt_waits_however_the_model_wants_it_c62():
    answer = parse_outputs(build_memory_output(kind="self_doubt", timing="now"))

    [memory] = select_and_decide(answer, CONVERSATION, []).memories

    assert memory.held_until == memory.valid_to == CONVERSATION.finished_at + HOLD_TIME


def test_few_facts_wait_at_a_time_c62():
    answer = parse_outputs(*(build_memory_output(f"Fact {n}", timing="repeat") for n in range(9)))
    held = [build_known_memory(f"Held {n}").hold(START + HOLD_TIME) for n in range(MAX_HELD)]

    for known, count in ((0, MAX_HELD_PER_CONVERSATION), (MAX_HELD - 1, 1), (MAX_HELD, 0)):
        assert len(select_and_decide(answer, CONVERSATION, held[:known]).memories) == count


def test_a_home_that_has_to_be_said_again_does_not_displace_a_plain_one_c62():
    home = {"exclusive_key": "home"}
    bergen = build_memory_output("User lives in Bergen", evidence="I live in Bergen", **home)
    sea = build_memory_output(
        "User lives by the sea", evidence="by the sea", timing="repeat", **home
    )

    assert keep_contents(sea, bergen) == ["User lives in Bergen"]


def test_a_fact_whose_kind_is_missing_is_dropped_and_the_others_stay():
    answer = build_memory_output("User is allergic to peanuts")
    kindless = {name: value for name, value in answer.items() if name != "kind"}

    assert MemoryOutput.model_validate(kindless).kind == "guess"
    assert keep_contents(kindless) == []
    assert keep_contents(kindless, answer) == ["User is allergic to peanuts"]


@pytest.mark.parametrize(
    ("answer", "stored_key"),
    [
        ({"exclusive_key": "home"}, "home"),
        ({"exclusive_key": "favourite", "favourite_of": " Tea "}, "favourite tea"),
        ({"exclusive_key": "favourite"}, None),
        ({"exclusive_key": "shoe size"}, None),
        ({"exclusive_key": "home", "category": "interesting"}, None),
        ({}, None),
    ],
)
def test_a_memory_stores_the_exclusive_key_that_the_model_names_c63(answer, stored_key):
    outputs = parse_outputs(build_memory_output(**answer))

    (memory,) = select_and_decide(outputs, CONVERSATION, []).memories

    assert memory.aspect == stored_key


def test_the_later_of_two_homes_in_one_conversation_is_kept_c63():
    conversation = build_test_conversation(
        "I live in Bergen.", "Really?", "Old habit: I live in Oslo.", "Ah."
    )
    home = {"exclusive_key": "home"}
    bergen = build_memory_output("User lives in Bergen", evidence="I live in Bergen", **home)
    oslo = build_memory_output("User lives in Oslo", evidence="I live in Oslo", segment=2, **home)
    tea = build_memory_output("User likes tea", evidence="Old habit", segment=2)

    for answers in ([bergen, oslo, tea], [tea, oslo, bergen]):
        answer = parse_outputs(*answers)
        contents = {m.content for m in select_and_decide(answer, conversation, []).memories}

        assert contents == {"User lives in Oslo", "User likes tea"}


def test_two_of_each_category_are_kept_p14():
    facts = [
        build_memory_output(f"Fact {n}", category=c)
        for n in range(4)
        for c in ("system", "interesting")
    ]

    assert keep_contents(*facts) == ["Fact 0", "Fact 1"]
    mixed_facts = [
        build_memory_output(f"{c} {n}", category=c)
        for n in range(4)
        for c in ("system", "interesting")
    ]
    assert keep_contents(*mixed_facts) == ["interesting 0", "interesting 1", "system 0", "system 1"]


def test_a_repeated_or_known_fact_is_dropped_p14():
    facts = [
        build_memory_output("User lives in Bergen."),
        build_memory_output("user lives in bergen"),
        build_memory_output("New"),
    ]

    assert keep_contents(*facts) == ["User lives in Bergen.", "New"]
    assert keep_contents(*facts, known_memories=[build_known_memory("User lives in BERGEN!")]) == [
        "New"
    ]


def test_a_conversation_repeats_at_most_a_fixed_number_of_known_facts_c62():
    facts = [f"User owns boat {n}" for n in range(600)]
    answer = parse_outputs(*map(build_memory_output, facts))

    reconciliation = select_and_decide(
        answer, CONVERSATION, [build_known_memory(fact) for fact in facts]
    )

    assert len(reconciliation.repeated_ids) == MAX_REPEATED


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "content": st.text(max_size=200),
                "category": st.sampled_from(["system", "interesting", "manual", "x"]),
                "segment": st.integers(-2, 5),
                "kind": st.sampled_from(["lasting", "joke", "x", 5]),
                "exclusive_key": st.sampled_from(["home", "favourite", None, "x", 5]),
                "favourite_of": st.sampled_from(["tea", None, 5]),
                "evidence": st.sampled_from(["I'm allergic", "I love jazz", "never said"]),
            }
        )
    )
)
def test_every_model_output_is_reduced_to_the_limits_p14(memories):
    facts = select_and_decide(parse_outputs(*memories), CONVERSATION, []).memories

    assert sum(m.category == "system" for m in facts) <= 2
    assert sum(m.category == "interesting" for m in facts) <= 2
    assert len({m.content.casefold() for m in facts}) == len(facts)
    for m in facts:
        assert m.segment is not None
        assert m.evidence in CONVERSATION.transcript_segments[m.segment].text
        assert len(m.content.split()) <= 15
