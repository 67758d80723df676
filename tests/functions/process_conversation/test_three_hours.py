"""A recording of three hours, read in parts by a server that answers plausibly and with faults (P26, S4)."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.adapters.cloud.openai_model import OpenaiModel
from shared.adapters.resilient_model import ResilientModel
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.models.model import ModelRole
from tests.fakes import AutoAdvanceClock
from tests.fixtures.processing import (
    ALICE,
    TALK,
    ProcessingFixture,
    build_processing_fixture,
    build_test_conversation,
)
from tests.fixtures.storage import MemoryDatabase
from tests.servers import run_server

ROLES: tuple[ModelRole, ...] = ("reader", "fast", "standard")
SEGMENTS = 5_760
START = datetime(2026, 11, 27, 12, tzinfo=UTC)
"""A Friday."""
WINDOW = 40_000
SPEAKERS = ("SPEAKER_00", "Mara", "Tom", "SPEAKER_03")
FILLER = (
    "the plan for the hall is on the table",
    "I think the second row is too close",
    "well, that depends on the weather in spring",
    "we had the same question last year, hadn't we",
    "right, and then the lights went out",
    "the choir sings in the small room then",
)


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A turn that says something, and what the server makes of it in the parts that hold it."""

    place: int
    speaker: int
    text: str
    task: Mapping[str, Any] | None = None
    event: Mapping[str, Any] | None = None
    fact: Mapping[str, Any] | None = None
    people: Sequence[str] = ()


def promise(description: str, owner: str = "me", due_at: str | None = None) -> dict[str, Any]:
    return {"description": description, "owner": owner, "due_at": due_at}


def announce(title: str, start: str) -> dict[str, Any]:
    return {"title": title, "start": start, "duration": 60}


def remember(content: str, evidence: str, **fields: Any) -> dict[str, Any]:
    return {"evidence": evidence, "kind": "lasting", "content": content, **fields}


PLANTED = (
    Planted(
        place=100,
        speaker=1,
        text="Alex, can you send the contract to Jonas by Friday?",
        task=promise("Send the contract to Jonas", due_at="2026-12-04"),
        people=("Jonas", "MARA"),
    ),
    Planted(
        place=700,
        speaker=0,
        text="Careful, I'm allergic to walnuts, always was.",
        fact=remember("User is allergic to walnuts", "i am allergic to walnuts"),
    ),
    Planted(
        place=1000,
        speaker=0,
        text="We live in Porto, near the river.",
        fact=remember("User lives in Porto", "We live in Porto", exclusive_key="home"),
    ),
    Planted(
        place=1500,
        speaker=2,
        text="I'll book the rehearsal room for Monday.",
        task=promise("Book the rehearsal room", "Tom", "2026-11-30 09:00"),
    ),
    Planted(
        place=2000,
        speaker=0,
        text="The dentist sees me on Thursday at half past nine.",
        event=announce("Dentist appointment", "2026-12-03 09:30"),
        task=promise("Go to the dentist", due_at="2024-12-05 09:30"),
    ),
    Planted(
        place=2600,
        speaker=0,
        text="I'll pay the piano tuner tomorrow.",
        task=promise("Pay the piano tuner", due_at="2026-11-28"),
    ),
    Planted(
        place=3000,
        speaker=1,
        text="And don't forget the contract for Jonas, it has to go out on Friday.",
        task=promise("Mail Jonas the signed contract", due_at="2026-12-04 18:00"),
        people=("jonas", "mara"),
    ),
    Planted(
        place=3300,
        speaker=2,
        text="The rehearsal room, right, I do that on Monday.",
        task=promise("Book rehearsal room for Monday", "TOM", "2026-11-30"),
    ),
    Planted(
        place=4000,
        speaker=0,
        text="No cake for me: walnuts make my throat swell.",
        fact=remember("User's throat swells from walnuts", "walnuts make my throat swell"),
    ),
    Planted(
        place=4300,
        speaker=1,
        text="The dentist on Thursday, half past nine, is that the one in town?",
        event=announce("Dentist", "2026-12-03 09:30"),
    ),
    Planted(
        place=4700,
        speaker=3,
        text="I have two dogs and a cat at home.",
        fact=remember("User has two dogs and a cat", "two dogs and a cat"),
    ),
    Planted(
        place=5000,
        speaker=0,
        text="Porto, no: we moved, we live in Braga now.",
        fact=remember("User lives in Braga", "we live in Braga now", exclusive_key="home"),
    ),
    Planted(
        place=5500,
        speaker=0,
        text="So, I send Jonas the contract, and I call the tuner about the organ.",
        task=promise("Send Jonas the contract"),
        people=("JONAS",),
    ),
    Planted(
        place=5501,
        speaker=0,
        text="The organ squeaks, the tuner must hear of it.",
        task=promise("Call the tuner about the organ"),
    ),
)


def build_talk() -> Conversation:
    """Build a talk of 5,760 turns with what was planted."""
    fillers = cycle(FILLER)
    planted = {each.place: each for each in PLANTED}
    segments = []
    for n in range(SEGMENTS):
        said = planted.get(n)
        speaker = SPEAKERS[said.speaker if said else n % 4]
        segments.append(
            Segment(
                text=said.text if said else f"{next(fillers)}, {n}",
                speaker=speaker,
                is_user=speaker == "SPEAKER_00",
                start=n * 1.875,
                end=n * 1.875 + 1.8,
            )
        )
    return build_test_conversation(
        transcript_segments=tuple(segments),
        started_at=START,
        created_at=START,
        finished_at=START + timedelta(hours=3),
    )


@dataclass
class FaultyServer:
    """Answers by the rules above; refuses one part for its length, and answers another with nonsense."""

    url: str = ""
    requests: list[Mapping[str, Any]] = field(default_factory=list)
    refused: int = 0
    is_mad: bool = False

    async def complete(self, request: Request) -> Response:
        words = "".join(str(m["content"]) for m in (await request.json())["messages"])
        text = words.partition("```json")[2].partition("```")[0]
        data = json.loads(text or "{}")
        self.requests.append(data)
        lines = {line["segment"]: line["text"] for line in data.get("transcript", ())}
        if PLANTED[5].place in lines and len(lines) > 300:
            self.refused += 1
            error = {"message": "too long", "code": "context_length_exceeded"}
            return JSONResponse({"error": error}, status_code=400)
        if self.is_mad or (PLANTED[8].place in lines and "parts" not in data):
            return _send("Sorry, here is a poem about a hall: the hall, the hall, the hall.")
        return _send(json.dumps(_describe(data) if "parts" in data else _read(lines)))


def _describe(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Tell which tasks are the same by their first noun; once too often: who pays the tuner also calls them."""
    seen: dict[str, int] = {}
    same_tasks = []
    for task in data["tasks"]:
        noun = next((n for n in ("contract", "room", "tuner") if n in task["description"]), "")
        first = seen.setdefault(noun or task["description"], task["number"])
        if first != task["number"]:
            same_tasks.append({"number": task["number"], "repeats": first})
    return {
        "title": "Rehearsals, the contract and the move",
        "overview": f"The choir planned its spring in {len(data['parts'])} steps.",
        "same_tasks": [*same_tasks, {"number": 99, "repeats": 0}, {"number": 0, "repeats": 0}],
    }


def _read(lines: Mapping[int, str]) -> Mapping[str, Any]:
    found = [each for each in PLANTED if each.place in lines]
    number = min(lines, default=0)
    return {
        "structure": {
            "title": f"The hall, from {number}",
            "overview": f"They talked about the hall, from turn {number} on.",
            "emoji": "🎹",
            "category": "Music" if number % 2 else "work",
            "action_items": [each.task for each in found if each.task],
            "events": [each.event for each in found if each.event],
            "people": [name for each in found for name in each.people],
            "topics": ["The hall", "the Hall", "choir"],
            "entities": ["St. Anna", "ST. ANNA"],
            "dates": ["2026-12-04", "Friday"],
        },
        "memories": [{**each.fact, "segment": each.place + 2} for each in found if each.fact],
    }


def _send(answer: str) -> Response:
    delta = {"choices": [{"index": 0, "delta": {"content": answer}, "finish_reason": None}]}
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (delta, end))
    return Response(body + "data: [DONE]\n\n", media_type="text/event-stream")


@asynccontextmanager
async def open_server() -> AsyncIterator[tuple[ResilientModel, FaultyServer]]:
    server, clock = FaultyServer(), AutoAdvanceClock()
    app = Starlette(routes=[Route("/chat/completions", server.complete, methods=["POST"])])
    with run_server(app) as server.url:
        models = {str(role): "some-model" for role in ROLES}
        model = OpenaiModel(
            api_key="key",
            base_url=server.url,
            models=models,
            clock=clock,
            windows=dict.fromkeys(ROLES, WINDOW),
        )
        yield ResilientModel({role: [model] for role in ROLES}, clock), server
        await model.aclose()


async def process_talk(*, is_mad: bool = False) -> tuple[ProcessingFixture, FaultyServer]:
    async with open_server() as (model, server):
        server.is_mad = is_mad
        world = build_processing_fixture(MemoryDatabase(), model)
        world.clock.time = START + timedelta(hours=4)
        await world.deps.stores.profiles.change(ALICE, time_zone="Europe/Berlin", name="Alex Weber")
        await world.deps.stores.conversations.add(ALICE, build_talk())
        await world.deliver_all()
    return world, server


async def test_the_owner_gets_one_record_of_three_hours_p26():
    world, server = await process_talk()

    conversation = await world.load_conversation()
    read = {line["segment"] for data in server.requests for line in data.get("transcript", ())}
    tasks = [
        (item.description, item.owner_name or item.owner, item.due_at and f"{item.due_at:%d %H}")
        for item in conversation.structured.action_items
    ]
    assert (conversation.status, conversation.failure) == ("completed", None)
    assert read == {*range(SEGMENTS)}
    assert server.refused == 2
    assert conversation.structured.title == "Rehearsals, the contract and the move"
    assert tasks == [
        ("Send the contract to Jonas", "me", "04 17"),
        ("Book rehearsal room for Monday", "Tom", "30 08"),
        ("Go to the dentist", "me", None),
        ("Pay the piano tuner", "me", "28 17"),
        ("Call the tuner about the organ", "me", None),
    ]
    assert [event.title for event in conversation.structured.events] == ["Dentist appointment"]
    assert conversation.topics.people == ("Mara", "Tom", "Jonas")
    assert conversation.topics.entities == ("St. Anna",)
    assert len(await world.deps.stores.action_items.list_for_conversation(ALICE, TALK)) == 5


async def test_of_three_hours_facts_are_kept_that_hold_and_the_rest_is_counted_i1():
    world, _ = await process_talk()

    conversation = await world.load_conversation()
    memories = await world.deps.stores.memories.list_newest(ALICE, limit=20)
    assert {(memory.content, memory.segment) for memory in memories} == {
        ("User lives in Braga", 5000),
        ("User is allergic to walnuts", 700),
    }
    assert conversation.dropped_memories == {"unproved": 1, "unread": 1}


async def test_a_model_that_reads_no_part_is_not_asked_about_all_of_them_p26():
    world, server = await process_talk(is_mad=True)

    conversation = await world.load_conversation()
    assert (conversation.status, conversation.dropped_memories) == ("completed", {"unread": 1})
    assert conversation.structured.overview
    assert len([data for data in server.requests if "transcript" in data]) <= 4
