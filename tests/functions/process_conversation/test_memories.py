"""P14: which memories are kept, whatever the model says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.answers import MemoriesAnswer
from functions.process_conversation.memories import REPEATED, candidates
from functions.process_conversation.memories import memories as decided
from functions.process_conversation.reconcile import Reconciled
from shared.domain.ids import MemoryId
from shared.domain.memory import Memory
from tests.functions.process_conversation.world import START, memory, talk

CONVERSATION = talk("I'm allergic to peanuts. I live in Bergen, by the sea.", "I love jazz.")


def memories(answer, conversation, known) -> Reconciled:
    return decided(candidates(answer, conversation, known), known)


def kept(*said, known=()):
    answer = MemoriesAnswer.model_validate({"memories": list(said)})
    return [m.content for m in memories(answer, CONVERSATION, known).memories]


def stored(content):
    return Memory(
        id=MemoryId(f"m {content}"),
        content=content,
        category="system",
        created_at=START,
        updated_at=START,
    )


def test_a_fact_with_its_proof_is_kept_with_it_p14():
    answer = MemoriesAnswer.model_validate({"memories": [memory()]})

    (found,) = memories(answer, CONVERSATION, []).memories

    assert (found.content, found.category) == ("User is allergic to peanuts", "system")
    assert (found.evidence, found.segment) == ("I'm allergic to peanuts", 0)
    assert found.conversation_id == CONVERSATION.id
    assert found.visibility == "private"


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
def test_a_fact_without_proof_place_or_measure_is_dropped_p14(changes):
    assert kept(memory(**changes)) == []


def test_fifteen_words_are_enough_p14():
    said = " ".join(f"w{n}" for n in range(15))

    assert kept(memory(said)) == [said]


def test_what_another_speaker_likes_is_no_fact_about_the_owner_p14():
    jazz = {"segment": 1, "evidence": "I love jazz"}

    assert kept(memory("User loves jazz", **jazz)) == []
    assert kept(memory("Jo: jazz calms", category="interesting", **jazz)) == ["Jo: jazz calms"]


@pytest.mark.parametrize(
    "said",
    [
        "I'm allergic to peanuts, for now at least.",
        "I'm allergic to peanuts. Just kidding!",
        "Let's pretend I'm allergic to peanuts.",
        "What if I'm allergic to peanuts?",
        "Then she goes: I'm allergic to peanuts.",
        "Maybe I'm allergic to peanuts.",
    ],
)
@pytest.mark.parametrize("category", ["system", "interesting"])
def test_what_was_not_meant_to_last_is_dropped_whatever_the_model_says_c62(said, category):
    answer = MemoriesAnswer.model_validate({"memories": [memory(category=category)]})
    is_advice = category == "interesting" and "she goes" in said

    found = memories(answer, talk(said), []).memories

    assert [m.content for m in found] == ["User is allergic to peanuts"] * is_advice


def test_of_two_homes_in_one_conversation_the_later_holds_c63():
    said = talk("I live in Bergen.", "Really?", "Old habit: I live in Oslo.", "Ah.")
    bergen = memory("User lives in Bergen", evidence="I live in Bergen")
    oslo = memory("User lives in Oslo", evidence="I live in Oslo", segment=2)
    tea = memory("User likes tea", evidence="Old habit", segment=2)

    for answers in ([bergen, oslo, tea], [tea, oslo, bergen]):
        answer = MemoriesAnswer.model_validate({"memories": answers})
        found = {m.content for m in memories(answer, said, []).memories}

        assert found == {"User lives in Oslo", "User likes tea"}


def test_two_of_each_category_are_kept_p14():
    facts = [memory(f"Fact {n}", category=c) for n in range(4) for c in ("system", "interesting")]

    assert kept(*facts) == ["Fact 0", "Fact 1"]
    spread = [memory(f"{c} {n}", category=c) for n in range(4) for c in ("system", "interesting")]
    assert kept(*spread) == ["interesting 0", "interesting 1", "system 0", "system 1"]


def test_what_is_said_twice_or_known_is_dropped_p14():
    facts = [memory("User lives in Bergen."), memory("user lives in bergen"), memory("New")]

    assert kept(*facts) == ["User lives in Bergen.", "New"]
    assert kept(*facts, known=[stored("User lives in BERGEN!")]) == ["New"]


def test_c62_a_conversation_strengthens_a_bounded_number_of_facts():
    facts = [f"User owns boat {n}" for n in range(600)]
    answer = MemoriesAnswer.model_validate({"memories": [memory(fact) for fact in facts]})

    found = memories(answer, CONVERSATION, [stored(fact) for fact in facts])

    assert len(found.repeated) == REPEATED


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "content": st.text(max_size=200),
                "category": st.sampled_from(["system", "interesting", "manual", "x"]),
                "segment": st.integers(-2, 5),
                "evidence": st.sampled_from(["I'm allergic", "I love jazz", "never said"]),
            }
        )
    )
)
def test_every_answer_comes_out_within_the_limits_p14(said):
    found = memories(MemoriesAnswer.model_validate({"memories": said}), CONVERSATION, []).memories

    assert sum(m.category == "system" for m in found) <= 2
    assert sum(m.category == "interesting" for m in found) <= 2
    assert len({m.content.casefold() for m in found}) == len(found)
    for m in found:
        assert m.segment is not None
        assert m.evidence in CONVERSATION.transcript_segments[m.segment].text
        assert len(m.content.split()) <= 15
