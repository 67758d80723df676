"""Answers of the offline model: quotations and citations."""

import json

from shared.adapters.embedded.offline.answers import (
    CONSENT_NEEDED,
    NOTHING_FOUND,
    SEARCH_DOWN,
    answer,
)

GARDEN = {
    "document": 1,
    "title": "Garden plans",
    "overview": "Anna and Ben plan the garden.",
    "passages": ["Anna: The tulips go in on Friday. I bought forty bulbs.\nBen: Fine."],
}
BUDGET = {
    "document": 2,
    "title": "Budget",
    "overview": "The budget was cut.",
    "passages": ["SPEAKER_00: The budget for the garden is 300 euros."],
}


def _build_search_result(*results, name="search_conversations"):
    return name, json.dumps({"results": list(results)})


def test_the_closest_sentence_is_quoted_with_its_citation_p17():
    text = answer("When do the tulips go in?", [_build_search_result(GARDEN, BUDGET)])

    assert text == "Here is what I found:\n\n- Anna: “The tulips go in on Friday.”[1]"


def test_a_speaker_without_a_name_is_not_named():
    text = answer("What is the budget?", [_build_search_result(BUDGET)])

    assert "- “The budget for the garden is 300 euros.”[2]" in text
    assert "SPEAKER" not in text


def test_overviews_answer_where_no_sentence_is_close():
    text = answer(
        "What did I do yesterday?", [_build_search_result({**GARDEN, "passages": []}, BUDGET)]
    )

    assert (
        "- Garden plans: Anna and Ben plan the garden.[1]\n- Budget: The budget was cut.[2]" in text
    )


def test_a_conversation_found_twice_is_quoted_once():
    results = [
        _build_search_result({**GARDEN, "passages": []}, name="get_conversations"),
        _build_search_result(GARDEN),
    ]

    assert answer("When do the tulips go in?", results).count("[1]") == 1


def test_memories_are_quoted_too():
    memories = json.dumps({"memories": [{"text": "Allergic to peanuts"}, {"text": "Has a dog"}]})

    text = answer("Am I allergic to anything?", [("search_memories", memories)])

    assert "- “Allergic to peanuts”" in text
    assert "dog" not in text


def test_the_text_of_an_app_is_relayed():
    assert answer("Weather?", [("sky_a1", "Sunny, 12 degrees.")]) == "Sunny, 12 degrees."
    assert answer("Weather?", [("sky_a1", "Error: closed.")]) == "That did not work: closed."


def test_a_call_without_consent_is_reported_in_words_for_people_s1():
    refused = "Error: The owner refused this call. Do not try it again."

    assert answer("Add oat milk.", [("add_a1", refused)]) == CONSENT_NEEDED


def test_an_empty_search_answers_that_nothing_was_found():
    empty = json.dumps({"results": [], "note": "Nothing was found."})

    assert answer("Who is Zoe?", [("search_conversations", empty)]) == NOTHING_FOUND


def test_a_failed_search_is_reported_as_failed_not_as_empty_c55():
    failed_search = ("search_conversations", "Error: search is unavailable.")

    assert answer("Who is Zoe?", [failed_search]) == SEARCH_DOWN
    assert answer(
        "When do the tulips go in?", [_build_search_result(GARDEN), failed_search]
    ).endswith(f"“The tulips go in on Friday.”[1]\n\n{SEARCH_DOWN}")


def test_the_reply_to_a_close_question_is_quoted_with_it():
    lunch = {
        "document": 1,
        "passages": ["Nora: Is Theo still allergic to walnuts?\nMe: Yes, and pecans. Also rain."],
    }

    text = answer("What is Theo allergic to?", [_build_search_result(lunch)])

    assert text.endswith(
        "- Nora: “Is Theo still allergic to walnuts?”[1]\n- Me: “Yes, and pecans.”[1]"
    )
