"""Planner of the offline model: the tool calls for a question."""

import json
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from shared.adapters.embedded.offline import planner
from shared.adapters.embedded.offline.finds import parse_results
from shared.adapters.embedded.offline.intents import Reading, read_intent
from shared.domain.models.model import ToolSpec


def plan(question, now, tools, results=()):
    request = planner.Request(text=question, reading=read_intent(question), now=now)
    return planner.plan(request, results, tools)


BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 4, 13, 30, tzinfo=BERLIN)  # a Wednesday
LIBRARY_TOOLS = [
    ToolSpec(name=name, description="Find conversations and memories", parameters={})
    for name in ("get_conversations", "search_conversations", "search_memories")
]


MANUAL_TOOL = ToolSpec(
    name="get_product_info",
    description="Look up in the manual how imports and models work",
    parameters={
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    },
)


def _build_app_tool(**schema: object) -> ToolSpec:
    return ToolSpec(
        name="weather_forecast_a1b2c3",
        description="The weather forecast for a city (from the app Sky)",
        parameters={"type": "object", **schema},
    )


@pytest.mark.parametrize("question", ["What did I do before we met?", "May I see my notes?"])
def test_a_question_without_a_time_gets_no_date_filter_p13(question):
    assert all("start_date" not in arguments for _, arguments in plan(question, NOW, LIBRARY_TOOLS))


def test_a_topic_is_searched_in_conversations_and_memories():
    calls = plan("What did Anna say about the budget?", NOW, LIBRARY_TOOLS)

    assert calls == [
        ("search_conversations", {"query": "What did Anna say about the budget?"}),
        ("search_memories", {"query": "What did Anna say about the budget?"}),
    ]


def test_a_bare_day_lists_its_conversations_with_offsets():
    calls = plan("What did I do yesterday?", NOW, LIBRARY_TOOLS)

    day = {"start_date": "2026-03-03T00:00:00+01:00", "end_date": "2026-03-04T00:00:00+01:00"}
    assert calls == [("get_conversations", {**day, "limit": 10})]
    assert json.dumps(calls)


@pytest.mark.parametrize(
    ("words", "now", "start", "end"),
    [
        ("today", "2026-03-04T13:30", "2026-03-04T00:00:00+01:00", "2026-03-05T00:00:00+01:00"),
        ("yesterday", "2026-03-30T09:00", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"),
        ("last week", "2026-03-01T23:59", "2026-02-16T00:00:00+01:00", "2026-02-23T00:00:00+01:00"),
        ("Last week", "2026-04-01T09:00", "2026-03-23T00:00:00+01:00", "2026-03-30T00:00:00+02:00"),
    ],
)
def test_past_days_become_a_filter_on_the_owners_clock_p13(words, now, start, end):
    moment = datetime.fromisoformat(now).replace(tzinfo=BERLIN)

    calls = plan(f"What did I do {words}?", moment, LIBRARY_TOOLS)

    date_range = {"start_date": start, "end_date": end, "limit": 10}
    assert calls == [("get_conversations", date_range)]


def test_a_topic_of_a_day_is_searched_within_it():
    calls = dict(plan("What did Anna decide yesterday?", NOW, LIBRARY_TOOLS))

    assert calls["search_conversations"]["start_date"] == "2026-03-03T00:00:00+01:00"
    assert "get_conversations" in calls


def test_a_topic_that_its_time_does_not_have_is_searched_at_any_time():
    question = "Am I busy in February?"
    names = ("get_conversations", "search_conversations")
    empty = parse_results((name, '{"results": []}') for name in names)

    assert plan(question, NOW, LIBRARY_TOOLS, empty)[0] == (
        "search_conversations",
        {"query": question},
    )
    assert plan(question, NOW, LIBRARY_TOOLS, [*empty, *empty]) == []
    assert plan("Am I busy?", NOW, LIBRARY_TOOLS, empty[1:]) == []


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("What happened on March 2nd?", "2026-03-02"),
        ("What did we discuss on 4 March?", "2026-03-04"),
        ("what was on february 29", None),
        ("Who did I meet on the second of December?", "2025-12-02"),
        ("Is the concert on March 10?", None),
        ("What did we discuss on March 2nd, 2025?", "2025-03-02"),
        ("Was war am 2.3.?", "2026-03-02"),
        ("What happened on 22.11.?", "2025-11-22"),
        ("What happened on 02.03. 2025?", "2025-03-02"),
        ("What happened on 2026-03-02?", "2026-03-02"),
        ("What happens on 2 March 2027?", None),
        ("What happened on 31.2.?", None),
        ("What was in 1.2.3.?", None),
        ("Does it cost 22.11.?", None),
    ],
)
def test_a_question_for_a_date_alone_lists_the_last_such_day(question, day):
    calls = dict(plan(question, NOW, LIBRARY_TOOLS))

    start = f"{day}T00:00:00+01:00" if day else None
    assert calls.get("get_conversations", {}).get("start_date") == start


@pytest.mark.parametrize(
    ("question", "intent", "tool", "person"),
    [
        ("What does Marcus still have to send me?", "others_tasks", "get_action_items", {"owner_name": "Marcus"}),
        ("What are the last talks with Nora?", "latest_talks", "get_conversations", {"speaker": "Nora"}),
        ("What do they still have to send me?", "others_tasks", "get_action_items", {"owner": "other"}),
    ],
)  # fmt: skip
def test_who_is_named_outside_the_form_of_an_example_is_asked_about(question, intent, tool, person):
    request = planner.Request(text=question, reading=Reading(intent=intent), now=NOW)
    tools = [*LIBRARY_TOOLS, ToolSpec(name="get_action_items", description="", parameters={})]

    arguments = dict(planner.plan(request, [], tools))[tool]

    assert arguments.items() >= person.items()


@pytest.mark.parametrize("question", ["Who did I talk to?", "Mit wem habe ich gesprochen?"])
def test_whom_the_owner_talked_to_is_listed_where_no_time_or_topic_is_named(question):
    [(tool, arguments)] = plan(question, NOW, LIBRARY_TOOLS)

    assert tool == "get_conversations"
    assert "start_date" not in arguments


def test_only_offered_tools_are_called():
    assert plan("What did Anna say?", NOW, []) == []


def test_an_app_whose_description_fits_is_called_instead_p9():
    tool = _build_app_tool(properties={"city": {"type": "string"}}, required=["city"])

    calls = plan("What is the weather forecast for Bergen?", NOW, [*LIBRARY_TOOLS, tool])

    assert calls == [(tool.name, {"city": "What is the weather forecast for Bergen?"})]


@pytest.mark.parametrize(
    ("schema", "question"),
    [
        ({}, "What did Anna say about the weather?"),
        ({"properties": {"days": {"type": "integer"}}, "required": ["days"]}, "weather forecast?"),
        (
            {
                "properties": {"city": {"type": "string", "enum": ["Bergen", "Oslo"]}},
                "required": ["city"],
            },
            "weather forecast?",
        ),
        ({"required": ["city", "day"]}, "What is the weather forecast?"),
    ],
)
def test_an_app_that_does_not_fit_or_requires_more_is_not_called(schema, question):
    calls = plan(question, NOW, [*LIBRARY_TOOLS, _build_app_tool(**schema)])

    assert all(name != "weather_forecast_a1b2c3" for name, _ in calls)


TASK_TOOLS = [
    ToolSpec(name=name, description="The owner's tasks", parameters={})
    for name in ("get_action_items", "create_action_item", "update_action_item")
]


@pytest.mark.parametrize(
    ("question", "expected_call"),
    [
        ("Remind me to call Ann.", ("create_action_item", {"description": "Call Ann"})),
        (
            "明日の夜8時半に牛乳を買うようにリマインドして",
            (
                "create_action_item",
                {"description": "牛乳を買う", "due_at": "2026-03-05T20:30:00+01:00"},
            ),
        ),
        ("please add a task: buy milk", ("create_action_item", {"description": "Buy milk"})),
        (
            "Remind me to call Ann tomorrow",
            (
                "create_action_item",
                {"description": "Call Ann", "due_at": "2026-03-05T18:00:00+01:00"},
            ),
        ),
        (
            "Remind me to water the ferns tomorrow at 8 in the evening",
            (
                "create_action_item",
                {"description": "Water the ferns", "due_at": "2026-03-05T20:00:00+01:00"},
            ),
        ),
        (
            "Erinnere mich morgen um 7 Uhr abends an die Farne",
            (
                "create_action_item",
                {"description": "Farne", "due_at": "2026-03-05T19:00:00+01:00"},
            ),
        ),
        (
            "Recuérdame mañana a las 8 de la tarde regar los helechos",
            (
                "create_action_item",
                {"description": "Regar los helechos", "due_at": "2026-03-05T20:00:00+01:00"},
            ),
        ),
        (
            "Rappelle-moi demain à 20 h d'arroser les fougères",
            (
                "create_action_item",
                {"description": "Arroser les fougères", "due_at": "2026-03-05T20:00:00+01:00"},
            ),
        ),
        ("What are my to-dos?", ("get_action_items", {"completed": False})),
        ("Which tasks are open?", ("get_action_items", {"completed": False})),
        ("What do I have to do?", ("get_action_items", {"completed": False})),
        ("what's still open?", ("get_action_items", {"completed": False})),
        (
            "What is due on Friday?",
            (
                "get_action_items",
                {
                    "completed": False,
                    "due_start_date": "2026-03-06T00:00:00+01:00",
                    "due_end_date": "2026-03-07T00:00:00+01:00",
                },
            ),
        ),
        (
            "What do I have to do this week?",
            (
                "get_action_items",
                {
                    "completed": False,
                    "due_start_date": "2026-03-02T00:00:00+01:00",
                    "due_end_date": "2026-03-09T00:00:00+01:00",
                },
            ),
        ),
    ],
)
def test_tasks_are_created_and_listed_p5(question, expected_call):
    assert plan(question, NOW, [*LIBRARY_TOOLS, *TASK_TOOLS]) == [expected_call]


@pytest.mark.parametrize("question", ["What did I do?", "What should I do about the roof?"])
def test_a_question_about_deeds_lists_no_tasks_p5(question):
    calls = plan(question, NOW, [*LIBRARY_TOOLS, *TASK_TOOLS])

    assert "get_action_items" not in [name for name, _ in calls]


def test_what_is_known_about_the_owner_is_listed():
    tools = [ToolSpec(name="get_memories", description="", parameters={})]

    assert plan("What do you know about me?", NOW, tools) == [("get_memories", {"limit": 20})]


def test_the_last_conversation_is_the_newest_one():
    calls = plan("What was my last conversation about?", NOW, LIBRARY_TOOLS)

    assert calls == [("get_conversations", {"limit": 1})]


def test_the_last_conversation_with_somebody_is_the_newest_in_which_they_speak():
    calls = plan("What did we say in our last conversation with Lena?", NOW, LIBRARY_TOOLS)

    assert calls == [("get_conversations", {"limit": 1, "speaker": "Lena"})]


@pytest.mark.parametrize(
    ("question", "limit"),
    [
        ("What were my last three conversations about?", 3),
        ("Show me the latest 4 recordings", 4),
        ("List my newest talks", 10),
        ("What was the last meeting about?", 1),
        ("My last 3 talks", 3),
        ("My last two talks", 2),
        ("Meine letzten 4 Gespräche", 4),
        ("Summarise my last conversation.", 1),
    ],
)
def test_as_many_of_the_last_conversations_as_are_asked_for_are_listed(question, limit):
    assert plan(question, NOW, LIBRARY_TOOLS) == [("get_conversations", {"limit": limit})]


@pytest.mark.parametrize(
    ("question", "start", "limit"),
    [
        ("What were my latest conversations yesterday?", "2026-03-03", 10),
        ("What were my latest conversations of the last 3 days?", "2026-03-02", 10),
        ("What was my last conversation last week?", "2026-02-23", 1),
    ],
)
def test_the_last_conversations_of_a_time_are_those_of_it_p13(question, start, limit):
    [(tool, arguments)] = plan(question, NOW, LIBRARY_TOOLS)

    assert (tool, arguments["limit"]) == ("get_conversations", limit)
    assert arguments["start_date"] == f"{start}T00:00:00+01:00"


def test_what_somebody_asked_of_the_owner_is_searched_for():
    question = "What did Marek ask me to do?"

    assert plan(question, NOW, LIBRARY_TOOLS) == [
        ("search_conversations", {"query": question}),
        ("search_memories", {"query": question}),
    ]


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("Summarize last week", "2026-02-23", "2026-03-02"),
        ("Summarise yesterday.", "2026-03-03", "2026-03-04"),
        ("Recap last month", "2026-02-01", "2026-03-01"),
        ("Fasse letzte Woche zusammen", "2026-02-23", "2026-03-02"),
        ("Résume la semaine dernière", "2026-02-23", "2026-03-02"),
        ("先週を要約して", "2026-02-23", "2026-03-02"),
    ],
)
def test_a_time_is_summed_up_as_a_whole_also_by_words_p2(question, start, end):
    [(tool, arguments)] = plan(question, NOW, LIBRARY_TOOLS)

    assert (tool, arguments["start_date"][:10], arguments["end_date"][:10]) == (
        "get_conversations", start, end,
    )  # fmt: skip
    assert (arguments["limit"], "speaker" in arguments) == (10, False)


@pytest.mark.parametrize(
    ("question", "task"),
    [
        ("Erinnere mich morgen an den Zahnarzt", "Zahnarzt"),
        ("Erinnere mich am Freitag an meinen Friseurtermin", "Friseurtermin"),
        ("Erinnere mich an das Paket von Anna", "Paket von Anna"),
        ("Kannst du mich an die Nebenkosten erinnern?", "Nebenkosten"),
        ("Remind me about the parcel", "Parcel"),
    ],
)
def test_a_new_task_begins_with_what_it_is_about_and_no_article_p5(question, task):
    [(tool, arguments)] = plan(question, NOW, [*LIBRARY_TOOLS, *TASK_TOOLS])

    assert (tool, arguments["description"]) == ("create_action_item", task)


def test_a_summary_of_a_stretch_of_time_lists_it():
    calls = plan("Summarize my meetings last week", NOW, LIBRARY_TOOLS)

    assert [name for name, _ in calls] == ["get_conversations"]


def test_a_question_about_a_reminder_creates_no_task_p5():
    calls = plan("Did Ann remind me to call the printer?", NOW, [*LIBRARY_TOOLS, *TASK_TOOLS])

    assert "create_action_item" not in [name for name, _ in calls]


def test_a_general_question_goes_to_an_app_that_fits_or_is_searched_p2():
    tool = _build_app_tool(properties={"city": {"type": "string"}}, required=["city"])
    question = "Explain weather forecast models"

    assert ("search_conversations", {"query": question}) in plan(question, NOW, LIBRARY_TOOLS)
    assert plan(question, NOW, [*LIBRARY_TOOLS, tool]) == [(tool.name, {"city": question})]


LIST_TOOLS = [
    ToolSpec(
        name="add_to_list",
        description="Add an item to the shopping list",
        parameters={"properties": {"item": {"type": "string"}}, "required": ["item"]},
    ),
    ToolSpec(name="show_list", description="Show the shopping list", parameters={}),
]


@pytest.mark.parametrize(
    ("question", "expected_call"),
    [
        ("Please add oat milk to the shopping list.", ("add_to_list", {"item": "oat milk"})),
        ("Can you put tea on my shopping list?", ("add_to_list", {"item": "tea"})),
        ("What is on the shopping list?", ("show_list", {})),
    ],
)
def test_the_best_fitting_tool_of_an_app_is_called_p9(question, expected_call):
    assert plan(question, NOW, [*LIBRARY_TOOLS, *LIST_TOOLS]) == [expected_call]


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("What did Mara promise?", {"owner_name": "Mara"}),
        ("what has Mara Vogt promised to send?", {"owner_name": "Mara Vogt"}),
        ("What does Tom owe me?", {"owner_name": "Tom"}),
        ("What does Tom still have to do?", {"owner_name": "Tom"}),
        ("What am I waiting for?", {"owner": "other"}),
        ("What did others promise?", {"owner": "other"}),
        ("What did Mara say?", None),
        ("What did I promise to do?", {"completed": False}),
    ],
)
def test_a_question_for_promises_lists_the_tasks_of_who_made_them(question, arguments):
    tools = [ToolSpec(name="get_action_items", description="", parameters={}), *LIBRARY_TOOLS]

    calls = dict(plan(question, NOW, tools))

    assert calls.get("get_action_items") == arguments


@pytest.mark.parametrize(
    ("question", "is_looked_up"),
    [
        ("How do I import WhatsApp chats into Keepsake?", True),
        ("What does keepsake send to a model?", True),
        ("What did Anna say about Keepsake?", False),
        ("How do imports and models work?", False),
    ],
)
def test_a_question_about_the_product_is_looked_up_in_its_manual_p8(question, is_looked_up):
    calls = plan(question, NOW, [*LIBRARY_TOOLS, MANUAL_TOOL])

    assert (calls == [("get_product_info", {"query": question})]) is is_looked_up
    assert all(name in {tool.name for tool in LIBRARY_TOOLS} for name, _ in calls) or is_looked_up


def test_without_the_manual_the_library_is_searched_p8():
    calls = dict(plan("Who works on Keepsake?", NOW, LIBRARY_TOOLS))

    assert "search_conversations" in calls


@pytest.mark.parametrize(
    "question",
    ["What did I promise to whom?", "What have I promised?", "what did I promise people"],
)
def test_promises_to_anybody_are_looked_up_among_tasks_and_in_what_was_said(question):
    tasks = ToolSpec(name="get_action_items", description="List tasks", parameters={})

    assert plan(question, NOW, [*LIBRARY_TOOLS, tasks]) == [
        ("get_action_items", {"completed": False}),
        ("search_conversations", {"query": question}),
    ]


def test_a_promise_to_somebody_is_searched_for():
    tasks = ToolSpec(name="get_action_items", description="List tasks", parameters={})

    calls = plan("What did I promise Ann?", NOW, [*LIBRARY_TOOLS, tasks])

    assert [name for name, _ in calls] == ["search_conversations", "search_memories"]
