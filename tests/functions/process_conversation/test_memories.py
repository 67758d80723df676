"""Memory selection: what is stored of a model's memories, whatever it answers."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.processing.examples import EXAMPLES
from functions.process_conversation.processing.memory_selection import (
    MAX_HELD,
    MAX_HELD_PER_CONVERSATION,
    MAX_REPEATED,
    select_candidates,
    sift_facts,
)
from functions.process_conversation.processing.memory_selection import (
    decide_memories as decide_candidates,
)
from functions.process_conversation.processing.model_outputs import MemoryOutput
from functions.process_conversation.processing.transcript_parts import build_lines
from shared.domain.conversations.conversation import Segment
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
    facts = sift_facts(identified, conversation).facts
    return decide_candidates(select_candidates(facts, conversation, IDS), known_memories)


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
        {"evidence": ""},
        {"evidence": " "},
        {"evidence": "peanuts"},
        {"segment": 99},
        {"segment": -99},
        {"content": ""},
        {"content": "…"},
        {"content": "word " * 16},
    ],
)
def test_a_fact_with_invalid_evidence_segment_or_length_is_dropped_p14(changes):
    assert keep_contents(build_memory_output(**changes)) == []


def test_a_fact_of_fifteen_words_is_kept_p14():
    content = " ".join(f"w{n}" for n in range(15))

    assert keep_contents(build_memory_output(content)) == [content]


def test_what_another_speaker_likes_is_not_stored_about_the_user_p14():
    jazz = {"segment": 1, "evidence": "I love jazz"}

    assert keep_contents(build_memory_output("User loves jazz", **jazz)) == []
    assert keep_contents(build_memory_output("Jo: jazz calms", kind="learned", **jazz)) == [
        "Jo: jazz calms"
    ]


@pytest.mark.parametrize(
    "kind", ["for_now", "joke", "idea", "question", "quotation", "guess", "hearsay", None]
)
def test_a_transient_or_unserious_statement_is_dropped_c62(kind):
    assert keep_contents(build_memory_output(kind=kind)) == []


def test_self_doubt_waits_however_the_model_wants_it_c62():
    answer = parse_outputs(build_memory_output(kind="self_doubt"))

    [memory] = select_and_decide(answer, CONVERSATION, []).memories

    assert memory.held_until == memory.valid_to == CONVERSATION.finished_at + HOLD_TIME


def test_few_facts_wait_at_a_time_c62():
    answer = parse_outputs(*(build_memory_output(f"Fact {n}", kind="self_doubt") for n in range(9)))
    held = [build_known_memory(f"Held {n}").hold(START + HOLD_TIME) for n in range(MAX_HELD)]

    for known, count in ((0, MAX_HELD_PER_CONVERSATION), (MAX_HELD - 1, 1), (MAX_HELD, 0)):
        assert len(select_and_decide(answer, CONVERSATION, held[:known]).memories) == count


def test_a_home_that_has_to_be_said_again_does_not_displace_a_plain_one_c62():
    home = {"exclusive_key": "home"}
    bergen = build_memory_output("User lives in Bergen", evidence="I live in Bergen", **home)
    sea = build_memory_output(
        "User lives by the sea", evidence="by the sea", kind="self_doubt", **home
    )

    assert keep_contents(sea, bergen) == ["User lives in Bergen"]


def test_a_fact_whose_kind_is_missing_is_dropped_and_the_others_stay():
    answer = build_memory_output("User is allergic to peanuts")
    kindless = {name: value for name, value in answer.items() if name != "kind"}

    assert MemoryOutput.model_validate(kindless).kind == "guess"
    assert keep_contents(kindless) == []
    assert keep_contents(kindless, answer) == ["User is allergic to peanuts"]


BEES = build_test_conversation(
    "Well, I've kept bees since school — honestly, I can't stop. My aunt Inês lives in Évora.",
    "My sister keeps bees, too.",
)


@pytest.mark.parametrize(
    ("evidence", "segment"),
    [
        ("I've kept bees since school", 0),
        ("i've kept bees since school", 0),
        ("I’ve kept bees since school", 0),
        ("Well I've kept bees since school", 0),
        ("since school - honestly", 0),
        ("I've kept bees … I can't stop", 0),
        ("My aunt Ines lives", 0),
        ("“I've kept bees since school.”", 0),
        ("SPEAKER_00: I've kept  bees since school", 0),
        ("User: I have kept bees since school", 0),
        ("I've kept bees since school", 1),
        ("I've kept bees since school", 2),
    ],
)
def test_a_proof_is_found_however_a_model_spells_it_and_stored_as_it_was_said_i1(evidence, segment):
    answer = parse_outputs(
        build_memory_output("User keeps bees", evidence=evidence, segment=segment)
    )

    (memory,) = select_and_decide(answer, BEES, []).memories

    assert memory.segment == 0
    assert memory.evidence in BEES.transcript_segments[0].text


@pytest.mark.parametrize(
    ("said", "evidence", "kept"),
    [
        ("I live in Bergen", "in Bergen", 0),
        ("I live in Bergen", "live in Bergen", 1),
        ("I'm vegan", "I'm vegan", 1),
        ("私は東京に住んでいます", "東京に住ん", 0),
        ("私は東京に住んでいます", "東京に住んで", 1),
        ("私はKyotoに住んでいます", "Kyotoに住んで", 1),
        ("東京です", "東京です", 1),
    ],
)
def test_a_proof_is_three_words_or_six_signs_or_all_that_was_said_i1(said, evidence, kept):
    note = build_test_conversation(transcript_segments=(Segment(text=said, is_user=True),))
    answer = parse_outputs(build_memory_output("User lives there", evidence=evidence))

    assert len(sift_facts(answer, note).facts) == kept


@pytest.mark.parametrize(
    "changes",
    [
        {"segment": "0"},
        {"segment": "segment 0"},
        {"segment": None},
        {"segment": [0]},
        {"kind": " Lasting"},
        {"replaces": "none", "repeats": "x"},
        {"replaces": 1.0, "exclusive_key": 7},
    ],
)
def test_a_fact_that_is_written_carelessly_is_read_i1(changes):
    assert keep_contents(build_memory_output(**changes)) == ["User is allergic to peanuts"]


def test_a_fact_of_which_no_segment_is_named_is_proved_anywhere_by_its_owner_i1():
    long = build_test_conversation(*["Well then.", "Yes."] * 30, "I'm allergic to peanuts", "So?")
    answer = build_memory_output(evidence="I am allergic to peanuts")
    del answer["segment"]
    other = {**answer, "evidence": "I said so"}

    facts = sift_facts(parse_outputs(answer, other), long).facts

    assert [(fact.segment, fact.evidence) for fact in facts] == [(60, "I'm allergic to peanuts")]


def test_a_proof_may_go_on_in_the_next_turn_of_its_speaker_alone_i1():
    cut = build_test_conversation(
        "I've been allergic", "Mhm.", "to walnuts for years.", "And cats."
    )
    own, other = (
        parse_outputs(build_memory_output("User is allergic", evidence=evidence))
        for evidence in (
            "I have been allergic to walnuts",
            "allergic to walnuts for years, and cats",
        )
    )

    [fact] = sift_facts(own, cut).facts

    assert (fact.segment, fact.evidence) == (0, "I've been allergic to walnuts")
    assert sift_facts(other, cut).dropped == {"unproved": 1}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"evidence": "My sister keeps bees"}, "unproved"),
        ({"evidence": "I keep bees since school"}, "unproved"),
        ({"kind": "joke"}, "not_meant"),
        ({"content": " "}, "empty"),
        ({"content": "User keeps bees, and the password is plum42"}, "secret"),
        ({"content": f"User cannot eat {EXAMPLES['example_food']}"}, "example"),
    ],
)
def test_what_is_dropped_is_counted_by_reason_i1(changes, reason):
    proof = {"evidence": "I've kept bees since school"}
    answer = parse_outputs(
        build_memory_output(**{"content": "User keeps bees", **proof, **changes})
    )

    sifted = sift_facts(answer, BEES)

    assert (sifted.facts, sifted.dropped) == ((), {reason: 1})


def test_a_secret_that_was_said_is_no_memory_i3():
    conversation = build_test_conversation("My bank password is plum42, by the way.")
    answer = parse_outputs(
        build_memory_output("User banks online", evidence="My bank password is plum42")
    )

    assert sift_facts(answer, conversation).dropped == {"secret": 1}


def test_an_owner_whom_only_the_profile_names_has_memories_i3():
    spoken = build_test_conversation("I'm allergic to peanuts.").transcript_segments[:1]
    named = build_test_conversation(
        transcript_segments=(replace(spoken[0], speaker="Alex Weber", is_user=False),)
    )
    answer = parse_outputs(build_memory_output())

    assert sift_facts(answer, named).facts == ()
    assert len(sift_facts(answer, named, ["alex weber"]).facts) == 1


@pytest.mark.parametrize(("speakers", "kept"), [(["SPEAKER_00"], 1), (["Ann"], 0), (["", "A"], 0)])
def test_who_keeps_a_note_alone_is_its_owner_for_facts_and_the_model_i3(speakers, kept):
    segments = tuple(Segment(text="I'm allergic to peanuts.", speaker=name) for name in speakers)
    note = build_test_conversation(transcript_segments=segments)

    assert len(sift_facts(parse_outputs(build_memory_output()), note).facts) == kept
    assert sum(line.get("is_user", False) for line in build_lines(note)) == kept


@pytest.mark.parametrize(
    ("answer", "stored_key"),
    [
        ({"exclusive_key": "home"}, "home"),
        ({"exclusive_key": " Favourite Tea "}, "favourite tea"),
        ({"exclusive_key": "favourite"}, None),
        ({"exclusive_key": "shoe size"}, None),
        ({"exclusive_key": "home", "kind": "learned"}, None),
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
    tea = build_memory_output("User likes tea", evidence="Old habit: I live", segment=2)

    for answers in ([bergen, oslo, tea], [tea, oslo, bergen]):
        answer = parse_outputs(*answers)
        contents = {m.content for m in select_and_decide(answer, conversation, []).memories}

        assert contents == {"User lives in Oslo", "User likes tea"}


def test_two_of_each_category_are_kept_p14():
    facts = [
        build_memory_output(f"Fact {n}", kind=kind)
        for n in range(4)
        for kind in ("lasting", "learned")
    ]

    assert keep_contents(*facts) == ["Fact 0", "Fact 1"]
    mixed_facts = [
        build_memory_output(f"{kind} {n}", kind=kind)
        for n in range(4)
        for kind in ("lasting", "learned")
    ]
    assert keep_contents(*mixed_facts) == ["learned 0", "learned 1", "lasting 0", "lasting 1"]


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
                "segment": st.integers(-2, 5),
                "kind": st.sampled_from(["lasting", "learned", "joke", "x", 5]),
                "exclusive_key": st.sampled_from(
                    ["home", "favourite tea", "favourite", None, "x", 5]
                ),
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
