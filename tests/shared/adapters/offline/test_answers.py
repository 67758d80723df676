"""Answers of the offline model: quotations and citations."""

import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from shared.adapters.embedded.offline import answers
from shared.adapters.embedded.offline.answers import SENTENCES
from shared.adapters.embedded.offline.finds import parse_results
from shared.adapters.embedded.offline.intents import read_intent
from shared.adapters.embedded.offline.planner import Request, plan
from shared.adapters.embedded.offline.speech import split_sentences
from shared.domain.models.model import ToolSpec

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


NOW = datetime(2026, 11, 27, 9, tzinfo=UTC)
TOOLS = [
    ToolSpec(name=name, description="", parameters={})
    for name in ("get_conversations", "search_conversations", "search_memories")
]


def build_request(question, zone=UTC):
    return Request(text=question, reading=read_intent(question), now=NOW.astimezone(zone))


def answer(question, results, *, zone=UTC):
    return answers.answer(build_request(question, zone), parse_results(results))


def plan_next(question, results=()):
    return plan(build_request(question), parse_results(results), TOOLS)


def _build_search_result(*results, name="search_conversations"):
    return name, json.dumps({"results": list(results)})


def test_the_closest_sentence_is_quoted_with_its_citation_p17():
    text = answer("When do the tulips go in?", [_build_search_result(GARDEN, BUDGET)])

    assert text == (
        "Here is what I found:\n\n"
        "- Anna: “The tulips go in on Friday. I bought forty bulbs.” Ben: “Fine.”[1]"
    )


def test_a_speaker_without_a_name_is_not_named():
    text = answer("What is the budget?", [_build_search_result(BUDGET)])

    assert "- “The budget for the garden is 300 euros.”[2]" in text
    assert "SPEAKER" not in text


def test_overviews_answer_where_no_sentence_is_close():
    listed = _build_search_result({**GARDEN, "passages": []}, BUDGET, name="get_conversations")

    text = answer("What did I do yesterday?", [listed])

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

    assert answer("Add oat milk.", [("add_a1", refused)]) == SENTENCES["consent_needed"]


def test_an_empty_search_answers_that_nothing_was_found():
    empty = json.dumps({"results": [], "note": "Nothing was found."})

    assert answer("Who is Zoe?", [("search_conversations", empty)]) == SENTENCES["nothing_found"]


@pytest.mark.parametrize(
    "question",
    [
        "What is the budget of the Reykjavik marathon?",
        "Did Anna sell the motorbike?",
        "What is Anna's birthday?",
        "Wie hoch ist das Budget für den Marathon in Reykjavik?",
    ],
)
def test_lines_that_have_at_most_half_of_a_question_are_called_the_nearest(question):
    text = answer(question, [_build_search_result(GARDEN, BUDGET)])

    assert f"{SENTENCES['nearest_only']}\n\n- " in text
    assert "Here is what I found" not in text


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("What did I say about skiing last week?", SENTENCES["nearest_only"]),
        ("What did I say about bulbs last week?", "Here is what I found:"),
    ],
)
def test_what_was_said_of_a_topic_in_a_time_is_more_than_the_time(question, heading):
    listed = _build_search_result({**GARDEN, "passages": []}, name="get_conversations")

    text = answer(question, [listed, _build_search_result(GARDEN)])

    assert text.startswith(f"{heading}\n\n- ")


def test_one_conversation_is_the_nearest_where_no_line_is():
    found = [{**GARDEN, "passages": []}, {**BUDGET, "passages": []}]

    text = answer("Did I ever visit Iceland?", [_build_search_result(*found)])

    assert (
        text == f"{SENTENCES['nearest_only']}\n\n- Garden plans: Anna and Ben plan the garden.[1]"
    )


def test_all_that_a_conversation_holds_counts_for_an_answer():
    text = answer("Which bulbs does the garden need?", [_build_search_result(GARDEN)])

    assert text == (
        "Here is what I found:\n\n"
        "- Anna: “The tulips go in on Friday. I bought forty bulbs.” Ben: “Fine.”[1]"
    )


def test_lines_that_are_only_near_are_not_added_to_a_list_of_tasks():
    tasks = ("get_action_items", "- Book the cabin (open, id a1)")

    text = answer("What did I promise?", [tasks, _build_search_result(GARDEN)])

    assert text == "You have 1 task:\n\n- Book the cabin"


@pytest.mark.parametrize(
    "line",
    [
        "Wir fliegen am 15. Dezember nach Lissabon.",
        "Die Messe ist vom 3. bis zum 5. März.",
        "Das Konzert ist Montag, 8. Juni, um sieben.",
        "Mr. Ng brings the tent.",
        "J. K. Rowling met Dr. Ng here.",
    ],
)
def test_a_number_or_a_title_with_a_full_stop_does_not_cut_its_sentence(line):
    assert split_sentences(f"Guten Tag. {line} Gut.") == ["Guten Tag.", line, "Gut."]


@pytest.mark.parametrize(
    "sentences",
    [
        ["The train leaves at 5.", "Ben takes it."],
        ["The train is number 12.", "That is late."],
        ["The train leaves at 3 pm.", "Ben takes it."],
        ["Hm.", "So it is."],
    ],
)
def test_a_number_ends_a_sentence_where_another_begins(sentences):
    assert split_sentences(" ".join(sentences)) == sentences


def test_a_long_line_is_quoted_by_the_sentences_around_the_closest():
    speech = " ".join(f"Nothing was said of it at {n} o'clock." for n in range(20))
    talk = {"document": 1, "passages": [f"Ann: {speech} The plumber is Giorgio. {speech}"]}

    text = answer("Who is the plumber?", [_build_search_result(talk)])

    assert "The plumber is Giorgio." in text
    assert len(text) < 300


def test_a_failed_search_is_reported_as_failed_not_as_empty_c55():
    failed_search = ("search_conversations", "Error: search is unavailable.")

    assert answer("Who is Zoe?", [failed_search]) == SENTENCES["search_down"]
    assert answer(
        "When do the tulips go in?", [_build_search_result(GARDEN), failed_search]
    ).endswith(
        f"“The tulips go in on Friday. I bought forty bulbs.” Ben: “Fine.”[1]\n\n{SENTENCES['search_down']}"
    )


def test_the_reply_to_a_close_question_is_quoted_with_it():
    lunch = {
        "document": 1,
        "passages": ["Nora: Is Theo still allergic to walnuts?\nMe: Yes, and pecans. Also rain."],
    }

    text = answer("What is Theo allergic to?", [_build_search_result(lunch)])

    assert text.endswith(
        "- Nora: “Is Theo still allergic to walnuts?” Me: “Yes, and pecans. Also rain.”[1]"
    )


def test_a_sentence_that_goes_on_about_somebody_is_quoted_with_them():
    knee = {
        "document": 1,
        "passages": ["Me: I saw Dr. Weber about my knee. He said six weeks without running."],
    }

    text = answer("What did Dr. Weber say about my knee?", [_build_search_result(knee)])

    assert "He said six weeks without running.”[1]" in text


def test_a_question_for_a_thing_of_somebody_asks_for_the_thing():
    leak = {
        "document": 1,
        "passages": ["Paul: The plumber found a leak.\nPaul: His name is Giorgio, by the way."],
    }

    text = answer("What is the plumber's name?", [_build_search_result(leak)])

    assert "His name is Giorgio, by the way.”[1]" in text


def test_lines_that_share_only_their_speaker_are_not_added_to_an_answer():
    between = "\n".join(f"Me: Yes, number {n}." for n in range(5))
    dinner = {
        "document": 1,
        "passages": [f"Lena: I am vegetarian.\nMe: Good.\n{between}\nLena: Lovely. Are you ready?"],
    }

    text = answer("Is Lena vegetarian?", [_build_search_result(dinner)])

    assert "I am vegetarian." in text
    assert "Lovely" not in text


MOVE = {
    "document": 1,
    "title": "Moving to Leipzig",
    "overview": "Lena's mother moves.",
    "people": ["Lena"],
    "started_at": "2026-11-22T16:00:00+01:00",
    "passages": ["Lena: The flat has three rooms.\nMe: Good."],
}
DAY = "Sunday 22 November 2026"
LAST_TALK = (
    f"Your latest conversation with Lena:\n\n- {DAY}, Moving to Leipzig: Lena's mother moves.[1]"
)


LISTED = _build_search_result({**MOVE, "passages": []}, name="get_conversations")
SEARCHED = [_build_search_result(MOVE), ("search_memories", '{"memories": []}')]


@pytest.mark.parametrize(
    "question",
    [
        "When did I last talk to Lena?",
        "when did I last see lena",
        "Wann habe ich zuletzt mit Lena gesprochen?",
        "When was the last time we met, Lena and I?",
        "¿Cuándo hablé por última vez con Lena?",
        "Quand ai-je parlé à Lena pour la dernière fois ?",
    ],
)
def test_the_last_talk_with_somebody_is_told_with_its_day(question):
    ((tool, arguments),) = plan_next(question)

    assert (tool, arguments["limit"]) == ("get_conversations", 1)
    assert arguments["speaker"].casefold().startswith("lena")
    assert answer(question, [LISTED]) == LAST_TALK
    assert plan_next(question, [LISTED]) == []


@pytest.mark.parametrize("question", ["What did Lena say?", "Summarize my talk with Lena"])
def test_the_last_talk_answers_where_a_question_names_nothing_but_a_speaker(question):
    listing = ("get_conversations", {"speaker": "Lena", "limit": 1})

    assert plan_next(question, SEARCHED) == [listing]
    assert answer(question, [*SEARCHED, LISTED]) == LAST_TALK
    assert plan_next(question, [*SEARCHED, LISTED]) == []


@pytest.mark.parametrize(
    "question", ["When is my next appointment with Lena?", "What is Lena's shoe size?"]
)
def test_what_nobody_said_is_answered_by_the_nearest_place(question):
    assert plan_next(question, SEARCHED) == []
    assert answer(question, SEARCHED).startswith(f"{SENTENCES['nearest_only']}\n\n- ")


def test_a_name_in_a_script_without_spaces_is_told_by_who_speaks_in_what_was_found():
    question = "山本さんと最後に話したのはいつ？"
    found = _build_search_result(
        {"document": 1, "passages": ["山本: 発表会は市民ホールです。\nMe: はい。"]}
    )

    assert [name for name, _ in plan_next(question)] == ["search_conversations", "search_memories"]
    assert plan_next(question, [found]) == [("get_conversations", {"speaker": "山本", "limit": 1})]


def test_a_reply_is_shown_with_what_its_question_asks_about():
    passage = "Ruth: Luca got the place at the school.\nMe: Which instrument?\nRuth: The oboe."

    text = answer(
        "Who plays the oboe?", [_build_search_result({"document": 1, "passages": [passage]})]
    )

    assert (
        "Ruth: “Luca got the place at the school.” Me: “Which instrument?” Ruth: “The oboe.”[1]"
        in text
    )


def test_what_was_promised_is_found_in_other_languages():
    passage = "Petra: Der Mast ist da.\nMe: Ich werde die Beschläge bestellen.\nPetra: Gut."

    text = answer(
        "Was habe ich versprochen?", [_build_search_result({"document": 1, "passages": [passage]})]
    )

    assert "Ich werde die Beschläge bestellen." in text


def test_a_last_time_with_somebody_unknown_is_searched_for():
    question = "When did I last talk to Zoe?"
    nobody = _build_search_result(name="get_conversations")

    assert [name for name, _ in plan_next(question, [nobody])] == [
        "search_conversations",
        "search_memories",
    ]


@pytest.mark.parametrize(
    "question",
    [
        "How many rooms does Lena's flat have?",
        "Who is Lena?",
        "What did I promise Lena?",
        "When will Lena move into the flat?",
        "When did I talk to Lena about the flat?",
    ],
)
def test_no_last_talk_is_looked_for_where_more_is_asked_for(question):
    assert plan_next(question, [_build_search_result(MOVE)]) == []


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("How often did I talk to Lena?", "2 conversations with Lena:"),
        ("How many conversations did I have last week?", "2 conversations last week:"),
        ("Wie oft habe ich mit Lena gesprochen?", "2 conversations with Lena:"),
    ],
)
def test_talks_are_counted(question, heading):
    both = [{**MOVE, "passages": []}, {**BUDGET, "started_at": MOVE["started_at"], "passages": []}]

    text = answer(question, [_build_search_result(*both, name="get_conversations")])

    assert text.startswith(f"{heading}\n\n- {DAY}, Moving to Leipzig: Lena's mother moves.[1]\n- ")


def test_a_listed_conversation_has_its_day_where_the_question_is_when():
    listed = _build_search_result({**MOVE, "passages": []}, name="get_conversations")

    assert answer("When was my last talk with Lena?", [listed]).endswith(
        f"\n\n- {DAY}, Moving to Leipzig: Lena's mother moves.[1]"
    )


def test_a_word_of_grammar_in_a_label_names_nobody():
    show = {"document": 1, "passages": ["The Host: Welcome to the evening."]}

    assert plan_next("Where is the key?", [_build_search_result(show)]) == []
    assert plan_next("What said the host?", [_build_search_result(show)]) != []


def test_the_talks_with_somebody_in_a_time_are_listed_with_their_days():
    listed = _build_search_result({**MOVE, "passages": []}, name="get_conversations")
    searched = [listed, _build_search_result(MOVE)]
    week = {"start_date": "2026-11-16T00:00:00+00:00", "end_date": "2026-11-23T00:00:00+00:00"}

    assert plan_next("What did Lena say last week?", searched) == [
        ("get_conversations", {"speaker": "Lena", **week, "limit": 10})
    ]
    assert answer("What did Lena say last week?", [*searched, listed]) == (
        f"Your conversations with Lena last week:\n\n- {DAY}, Moving to Leipzig: Lena's mother moves.[1]"
    )
    nothing = _build_search_result(name="get_conversations")
    assert answer("Did I talk to Lena yesterday?", [*searched, nothing]) == (
        "I found no conversation with Lena yesterday."
    )


@pytest.mark.parametrize("question", ["Who did I talk to last week?", "Who did I visit last week?"])
def test_the_people_of_a_time_are_named_with_their_conversations(question):
    listed = _build_search_result(MOVE, name="get_conversations")
    searched = [_build_search_result(GARDEN)] if "visit" in question else []

    assert answer(question, [listed, *searched]) == (
        f"You talked with Lena:\n\n- {DAY}, Moving to Leipzig: Lena's mother moves.[1]"
    )


def test_what_is_found_only_at_another_time_is_the_nearest_with_its_day():
    nothing = _build_search_result(), _build_search_result(name="get_conversations")

    text = answer("Which rooms had the flat in March?", [*nothing, _build_search_result(MOVE)])

    assert (
        text
        == f"{SENTENCES['nearest_only']}\n\n- {DAY}, Lena: “The flat has three rooms.” Me: “Good.”[1]"
    )


@pytest.mark.parametrize("question", ["Did anyone mention the flat?", "Did we discuss the flat?"])
def test_an_answer_need_not_say_that_something_is_mentioned(question):
    text = answer(question, [_build_search_result(MOVE)])

    assert text.startswith(
        "Here is what I found:\n\n- Lena: “The flat has three rooms.” Me: “Good.”[1]"
    )


TASKS = (
    "- Book the cabin (open, due 2026-03-06T01:00+00:00, id a1)\n"
    "- Send it (to Ines) (done, due 2026-03-05T17:00+00:00, id b2)\n"
    "- Buy a kettle (open, id c3)"
)


def test_tasks_are_told_in_words_and_in_the_owners_days():
    zone = ZoneInfo("America/Los_Angeles")

    assert answer("What do I have to do?", [("get_action_items", TASKS)], zone=zone) == (
        "You have 3 tasks:\n\n- Book the cabin, Thursday 5 March at 17:00\n"
        "- Send it (to Ines), Thursday 5 March at 09:00 (done)\n- Buy a kettle"
    )


def test_a_part_of_the_tasks_is_told_as_one():
    newest = ("get_action_items", f"The newest tasks:\n{TASKS}")

    assert answer("What do I have to do?", [newest]).startswith("The newest tasks:\n\n- Book the")


def test_a_new_task_is_told_without_its_id():
    created = "Created:\n- Call Ann (open, due 2026-03-05T18:00+00:00, id a1)"

    text = answer("Remind me to call Ann tomorrow", [("create_action_item", created)], zone=UTC)

    assert text == "Created:\n\n- Call Ann, Thursday 5 March"


@pytest.mark.parametrize(
    "question",
    [
        "Was muss ich morgen machen?",
        "What do I have to do tomorrow?",
        "¿Qué tengo que hacer mañana?",
        "Que dois-je faire demain ?",
        "明日やることは？",
        "Was steht am Freitag für die Feier an?",
    ],
)
def test_no_answer_says_no_over_what_it_shows_p2(question):
    feast = {
        "document": 1,
        "passages": ["Me: Morgen muss ich für die Feier backen. Demain, mañana, 明日やること."],
    }
    nothing = ("get_action_items", "There are no such tasks.")
    found = [_build_search_result(feast), ("search_memories", '{"memories": []}')]

    for tasks in (nothing, ("get_action_items", TASKS)):
        text = answer(question, [tasks, *found])
        shown = "“" in text or "- " in text
        assert not (shown and text.startswith(("You have no", "No ")))
        assert text


def test_a_topic_is_counted_in_the_conversations_that_speak_of_it_p17():
    talks = [
        {"document": 1, "title": "Pool", "passages": ["Me: I went swimming with Ben."]},
        {
            "document": 2,
            "title": "Sea",
            "passages": ["Me: The water was cold when I swam. Swimming is fun."],
        },
        {"document": 3, "title": "Roof", "passages": ["Ben: The roof leaks."]},
    ]
    memories = ("search_memories", '{"memories": []}')

    text = answer("How often did I go swimming?", [_build_search_result(*talks), memories])
    assert text == "2 conversations about that:\n\n- Pool[1]\n- Sea[2]"

    text = answer(
        "Wie oft war ich schwimmen?",
        [_build_search_result({**talks[0], "passages": ["Ich: Ich war schwimmen."]}), memories],
    )
    assert text.startswith("1 conversation about that:")


def test_the_owners_clock_tells_what_day_it_is_p2():
    text = answer("What day is it today?", [])

    assert text == f"It is {NOW:%A} {NOW.day} {NOW:%B} {NOW.year}, {NOW:%H:%M}."


def test_no_tasks_are_told_in_words():
    nothing = ("get_action_items", "There are no such tasks.")

    assert answer("What is due?", [nothing]) == "You have no such tasks."


def test_who_is_answered_with_the_others_names_first():
    text = answer("Who did I talk to about tulips?", [_build_search_result(GARDEN)])

    assert text.startswith(
        "That was with Anna, Ben:\n\n- Anna: “The tulips go in on Friday. I bought forty bulbs.” Ben: “Fine.”[1]"
    )


def test_memories_are_listed_where_the_question_names_no_topic():
    memories = json.dumps({"memories": [{"text": "Allergic to peanuts"}, {"text": "Has a dog"}]})

    text = answer("What do you know about me?", [("get_memories", memories)])

    assert "- “Allergic to peanuts”\n- “Has a dog”" in text


def test_the_owner_is_addressed():
    talk = {"document": 1, "passages": ["User: I promised to bring the tent."]}

    assert "- You: “I promised to bring the tent.”[1]" in answer(
        "What did I promise?", [_build_search_result(talk)]
    )
