"""Facts that the offline model extracts: stated in English, in the third person, with evidence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.offline.memories import extract_facts, extract_memories

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
    ("I'm 34, Tom, remember?", "User is 34"),
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


def test_memories_rest_on_the_users_words_and_say_how_they_were_meant_c62():
    transcript = [
        {"segment": 0, "speaker": "ANN", "is_user": False, "text": "I live in Rome."},
        {"segment": 1, "speaker": "ME", "is_user": True, "text": "I live on Mars. Just kidding."},
        {"segment": 2, "speaker": "ME", "is_user": True, "text": "My favourite tea is mint."},
    ]

    memories = extract_memories({"transcript": transcript, "language": "en"})["memories"]

    assert memories == [
        {
            "content": "User lives on Mars",
            "category": "system",
            "segment": 1,
            "evidence": "I live on Mars",
            "kind": "joke",
            "exclusive_key": None,
            "favourite_of": None,
        },
        {
            "content": "User's favourite tea is mint",
            "category": "system",
            "segment": 2,
            "evidence": "My favourite tea is mint",
            "kind": "lasting",
            "exclusive_key": "favourite",
            "favourite_of": "tea",
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
