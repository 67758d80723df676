"""How the offline model quotes and cites."""

import json

from shared.adapters.offline_answers import NOTHING, SEARCH_DOWN, answer

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


def _found(*results, name="search_conversations"):
    return name, json.dumps({"results": list(results)})


def test_the_closest_sentence_is_quoted_with_its_citation_p17():
    said = answer("When do the tulips go in?", [_found(GARDEN, BUDGET)])

    assert said == "Here is what I found:\n\n- Anna: “The tulips go in on Friday.”[1]"


def test_a_speaker_without_a_name_is_not_named():
    said = answer("What is the budget?", [_found(BUDGET)])

    assert "- “The budget for the garden is 300 euros.”[2]" in said
    assert "SPEAKER" not in said


def test_overviews_answer_where_no_sentence_is_close():
    said = answer("What did I do yesterday?", [_found({**GARDEN, "passages": []}, BUDGET)])

    assert (
        "- Garden plans: Anna and Ben plan the garden.[1]\n- Budget: The budget was cut.[2]" in said
    )


def test_a_conversation_found_twice_is_quoted_once():
    twice = [_found({**GARDEN, "passages": []}, name="get_conversations"), _found(GARDEN)]

    assert answer("When do the tulips go in?", twice).count("[1]") == 1


def test_memories_are_quoted_too():
    memories = json.dumps({"memories": [{"text": "Allergic to peanuts"}, {"text": "Has a dog"}]})

    said = answer("Am I allergic to anything?", [("search_memories", memories)])

    assert "- “Allergic to peanuts”" in said
    assert "dog" not in said


def test_what_an_app_says_is_relayed_as_text():
    assert answer("Weather?", [("sky_a1", "Sunny, 12 degrees.")]) == "Sunny, 12 degrees."
    assert answer("Weather?", [("sky_a1", "Error: closed.")]) == "That did not work: closed."


def test_nothing_found_is_said_honestly():
    empty = json.dumps({"results": [], "note": "Nothing was found."})

    assert answer("Who is Zoe?", [("search_conversations", empty)]) == NOTHING


def test_a_search_that_failed_is_not_told_as_one_that_found_nothing_c55():
    down = ("search_conversations", "Error: search is unavailable.")

    assert answer("Who is Zoe?", [down]) == SEARCH_DOWN
    assert answer("When do the tulips go in?", [_found(GARDEN), down]).endswith(
        f"“The tulips go in on Friday.”[1]\n\n{SEARCH_DOWN}"
    )


def test_the_reply_to_a_close_question_is_quoted_with_it():
    lunch = {
        "document": 1,
        "passages": ["Nora: Is Theo still allergic to walnuts?\nMe: Yes, and pecans. Also rain."],
    }

    said = answer("What is Theo allergic to?", [_found(lunch)])

    assert said.endswith(
        "- Nora: “Is Theo still allergic to walnuts?”[1]\n- Me: “Yes, and pecans.”[1]"
    )
