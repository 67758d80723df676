"""Facts that the offline model extracts: stated in English, in the third person, with evidence."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.offline.memories import extract_facts, extract_memories
from shared.adapters.embedded.offline.speech import collect_sentences

STATEMENTS = [
    ("I'm allergic to peanuts.", "User is allergic to peanuts"),
    ("Well, I live in Bergen.", "User lives in Bergen"),
    ("By the way, my daughter Mia is six.", "User's daughter Mia is six"),
    ("My daughter's name is Mia.", "User's daughter's name is Mia"),
    ("I have two cats, Milo and Otis.", "User has two cats, Milo and Otis"),
    ("I don't eat meat.", "User doesn't eat meat"),
    ("I love my garden.", "User loves their garden"),
    ("The launch moved to May, and I'm allergic to nuts.", "User is allergic to nuts"),
    ("I still work at Ford, so I take the tram.", "User works at Ford"),
    ("I've lived in Rome since 2010.", "User has lived in Rome since 2010"),
    ("I teach chemistry because I like it.", "User teaches chemistry"),
    ("My favourite colour is green.", "User's favourite colour is green"),
    ("I'm 34, remember?", "User is 34"),
    ("I believe in ghosts.", "User believes in ghosts"),
]


@pytest.mark.parametrize(("sentence", "content"), STATEMENTS)
def test_a_fact_is_stated_in_the_third_person_p14(sentence, content):
    assert [fact.content for fact in extract_facts(sentence)] == [content]


@pytest.mark.parametrize(
    "sentence",
    [
        "I'm tired today.",
        "I'm a bit lost.",
        "I love this idea.",
        "I like how you did it.",
        "I have a meeting.",
        "I have an idea.",
        "My wife is here.",
        "My dog is sleeping.",
        "I work late.",
        "I live " + "very " * 15 + "far.",
        "I'm from what you would call a big family.",
        "Anna lives in Oslo.",
        "I've been doing it for years.",
        "I've been looking for work for a while.",
        "I love making him happy.",
        "I'm a huge fan.",
        "I studied hard.",
        "Ich wohne in Köln.",
        "J'habite à Lille.",
        "",
    ],
)
def test_momentary_statements_statements_of_others_and_other_languages_are_no_facts_p14(sentence):
    assert list(extract_facts(sentence)) == []


def test_one_sentence_can_contain_two_facts_with_separate_evidence_p14():
    sentence_facts = extract_facts("I live in Rome, by the river, and my wife works in Ostia.")

    assert [(fact.content, fact.evidence) for fact in sentence_facts] == [
        ("User lives in Rome, by the river", "I live in Rome, by the river"),
        ("User's wife works in Ostia", "my wife works in Ostia"),
    ]


def _extract_own(*texts: str) -> Any:
    transcript = [
        {"segment": n, "speaker": "ME", "is_user": True, "text": text}
        for n, text in enumerate(texts)
    ]
    return extract_memories(collect_sentences(transcript))


@pytest.mark.parametrize(
    "text",
    [
        "I live with my parents, at least for now.",
        "I don't eat sugar at the moment.",
        "I'm a spy. Just kidding!",
        "I'm a spy. No, I'm joking.",
        "I work at Bosch, no, sorry, at Siemens.",
        "I have nine kids, just kidding.",
        "If I were rich, well, I have a boat.",
        "I like jazz?",
        "And Anna said: I'm allergic to cats.",
        "Then he was like, I'm vegan.",
        "I'm allergic to kiwis, I think.",
        "I'm allergic to kiwis, maybe.",
    ],
)
def test_what_is_not_meant_to_last_is_no_fact_c62(text):
    assert _extract_own(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Just kidding. I live in Oslo.",
        "No, sorry, I live in Oslo.",
        "I live in Oslo? Yes, I live in Oslo.",
        "I live in Oslo. My brother keeps kidding me about it.",
        "In the meantime, I live in Oslo.",
        "I live in Oslo, okay?",
        "I live in Oslo, and where do you live?",
    ],
)
def test_a_plain_fact_is_lasting_beside_other_sentences_c62(text):
    assert [memory["content"] for memory in _extract_own(text)] == ["User lives in Oslo"]


def test_a_speaker_may_take_back_what_they_said_in_their_next_turn_c62():
    assert _extract_own("I'm a spy.", "No, just kidding.") == []
    assert _extract_own("I'm a spy.", "In Oslo.", "Just kidding.") != []


def test_memories_rest_on_the_words_of_the_user_c59():
    transcript = [
        {"segment": 0, "speaker": "ANN", "is_user": False, "text": "I live in Rome."},
        {"segment": 2, "speaker": "ME", "is_user": True, "text": "My favourite tea is mint."},
    ]

    memories = extract_memories(collect_sentences(transcript))

    assert memories == [
        {
            "segment": 2,
            "evidence": "My favourite tea is mint",
            "kind": "lasting",
            "content": "User's favourite tea is mint",
            "exclusive_key": "favourite tea",
        },
    ]


@given(
    st.lists(st.sampled_from([*(sentence for sentence, _ in STATEMENTS), "and", ",", "I", "my"]))
)
def test_every_fact_quotes_its_sentence_c59(parts):
    sentence = " ".join(parts)

    for fact in extract_facts(sentence):
        assert fact.evidence in sentence
        assert 0 < len(fact.content.split()) <= 15
