"""People and events that conversations speak of, as a tool lists them (P4)."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from functions.chat.context.citations import Citations
from functions.chat.tools.people_tools import MAX_READ, NOT_ALL_READ, build_people_tools
from shared.domain.conversations.conversation import Conversation, Event, Speaker, Topics
from shared.domain.errors import ToolRefused
from shared.domain.ids import PersonId
from shared.domain.people.person import Person
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.library import FIRST_DAY, build_conversation, store_conversations
from tests.functions.chat.test_message_routes import ask

BERLIN = ZoneInfo("Europe/Berlin")


async def call_tool(world: ChatFixture, kind: str, **arguments: Any) -> dict[str, Any]:
    [tool] = build_people_tools(world.deps(), ADA, BERLIN)
    render = await tool.run({"kind": kind, **arguments}, "c1")
    answer: dict[str, Any] = json.loads(render(Citations()))
    return answer


def announce(day: int, *events: tuple[str, int]) -> Conversation:
    """Build the conversation of a day with events, each so many days after it."""
    base = build_conversation(day, "We make plans.")
    planned = tuple(
        Event(title=title, start=base.started_at + timedelta(days=days)) for title, days in events
    )
    return replace(base, structured=replace(base.structured, events=planned))


def mention(day: int, *names: str) -> Conversation:
    return replace(build_conversation(day, "We talk."), topics=Topics(people=names))


@pytest.fixture
async def plans(world: ChatFixture) -> ChatFixture:
    """Store plans before the second of March, which is today."""
    await store_conversations(
        world,
        ADA,
        announce(50, ("Regatta", 12), ("Dentist", 30), ("Past talk", 1)),
        announce(58, ("regatta", 4), ("Harbour walk", 20)),
    )
    await store_conversations(world, EVE, announce(50, ("Eve's wedding", 30)))
    return world


async def test_events_are_listed_from_now_on_each_once_and_soonest_first_p4(
    plans: ChatFixture,
) -> None:
    answer = await call_tool(plans, "events")

    assert answer == {
        "events": [
            {
                "document": 1,
                "title": "regatta",
                "minutes": 30,
                "start": "2026-03-04T10:00:00+01:00",
                "conversation_id": "c058",
            },
            {
                "document": 1,
                "title": "Harbour walk",
                "minutes": 30,
                "start": "2026-03-20T10:00:00+01:00",
                "conversation_id": "c058",
            },
            {
                "document": 2,
                "title": "Dentist",
                "minutes": 30,
                "start": "2026-03-22T10:00:00+01:00",
                "conversation_id": "c050",
            },
        ]
    }


@pytest.mark.parametrize(
    ("arguments", "titles"),
    [
        ({"start_date": "2026-02-20T00:00:00Z", "limit": 1}, ["Past talk"]),
        ({"end_date": "2026-03-20T09:00:00Z"}, ["regatta"]),
        ({"end_date": "2026-03-01T00:00:00Z"}, ["Past talk"]),
        ({"name": "walk harbour"}, ["Harbour walk"]),
        ({"limit": 1, "offset": 1}, ["Harbour walk"]),
        ({"offset": 3}, []),
    ],
)
async def test_events_are_chosen_by_time_words_and_offset_p4(
    plans: ChatFixture, arguments: dict[str, Any], titles: list[str]
) -> None:
    answer = await call_tool(plans, "events", **arguments)

    assert [event["title"] for event in answer["events"]] == titles


async def test_a_list_that_is_cut_says_where_it_goes_on_p4(plans: ChatFixture) -> None:
    answer = await call_tool(plans, "events", limit=2)

    assert answer["note"] == "There are 3 in all: the next begin at offset 2."


async def test_people_are_listed_with_how_often_and_when_they_were_met_p4(
    world: ChatFixture,
) -> None:
    await world.deps().stores.profiles.change(ADA, name="Ada", own_names=("Addy",))
    dana = Person(id=PersonId("p"), name="Dana", created_at=FIRST_DAY, updated_at=FIRST_DAY)
    await world.deps().stores.people.add(ADA, dana)
    spoken = replace(mention(3, "Bea"), speakers={"Ann": Speaker(name="Cem"), "Me": Speaker()})
    await store_conversations(world, ADA, mention(1, "bea", "Ada"), spoken, mention(2, "Addy"))
    await store_conversations(world, EVE, mention(4, "Eve's friend"))

    answer = await call_tool(world, "people")

    last = {"last": "2026-01-04T10:00:00+01:00", "conversation_id": "c003"}
    assert answer == {
        "people": [
            {"document": 1, "name": "Bea", "conversations": 2, **last},
            {"document": 1, "name": "Cem", "conversations": 1, **last},
            {"name": "Dana", "conversations": 0},
        ]
    }


async def test_people_are_chosen_by_time_and_name_p4(world: ChatFixture) -> None:
    await store_conversations(world, ADA, mention(1, "Bea Vogt"), mention(5, "Cem"))

    early = await call_tool(world, "people", end_date="2026-01-05T00:00:00Z")
    named = await call_tool(world, "people", name="vogt")
    nobody = await call_tool(world, "people", start_date="2026-02-01T00:00:00Z")

    assert [person["name"] for person in early["people"]] == ["Bea Vogt"]
    assert [person["name"] for person in named["people"]] == ["Bea Vogt"]
    assert nobody == {"people": []}


async def test_a_library_that_was_not_read_whole_says_so_p4(world: ChatFixture) -> None:
    talks = [mention(n, "Bea") for n in range(MAX_READ + 1)]
    await store_conversations(world, ADA, *talks)

    answer = await call_tool(world, "people")

    assert answer["people"][0]["conversations"] == MAX_READ
    assert answer["note"] == NOT_ALL_READ


async def test_a_date_without_an_offset_is_refused_with_a_correction(world: ChatFixture) -> None:
    with pytest.raises(ToolRefused, match="must include timezone"):
        await call_tool(world, "people", start_date="2026-01-05")


async def test_an_answer_cites_the_conversation_of_an_event_p17(plans: ChatFixture) -> None:
    call = script_calls(("get_people_and_events", {"kind": "events", "limit": 1}))
    with ScriptedModel(call, script_answer("The regatta is on Wednesday[1].")) as model:
        response, screen = await ask(plans.deps(model), {"text": "What is coming up?"})

    assert (response.status_code, screen.text) == (200, "The regatta is on Wednesday[1].")
    assert screen.done is not None
    assert [card["id"] for card in screen.done["memories"]] == ["c058"]
