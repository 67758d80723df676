"""Library tools over 200 conversations (P4)."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from functions.chat.context.citations import Citations
from functions.chat.tools.builtin_tool import MORE_HITS
from functions.chat.tools.library_tools import FILTERS_DROPPED, build_library_tools
from shared.data.conversations.conversations import conversation_path
from shared.data.memories.memories import memory_path
from shared.data.search.search import Search
from shared.domain.conversations.conversation import Event, ExtractedItem, Speaker, Topics
from shared.domain.errors import ToolRefused
from shared.domain.ids import ConversationId, MemoryId
from shared.domain.models.model import ToolResult
from shared.domain.store.documents import Update
from shared.models.messages import build_messages
from tests.fixtures.chat import ADA, EVE, ChatFixture, build_chat_fixture
from tests.fixtures.encoder import needs_encoder, open_encoder
from tests.fixtures.storage import MemoryDatabase
from tests.functions.chat.library import build_conversation, store_conversations, store_memories

UTC = ZoneInfo("UTC")


async def call_tool(world: ChatFixture, name: str, **arguments: Any) -> dict[str, Any]:
    tool = next(t for t in build_library_tools(world.deps(), ADA, UTC) if t.spec.name == name)
    present = await tool.run(arguments, "c1")
    answer: dict[str, Any] = json.loads(present(Citations()))
    return answer


@pytest.fixture(scope="module")
def content() -> bytes:
    with closing(MemoryDatabase()) as database:
        asyncio.run(fill(build_chat_fixture(database)))
        return database.serialize()


@pytest.fixture
def library(content: bytes) -> Iterator[ChatFixture]:
    with closing(MemoryDatabase(content)) as database:
        yield build_chat_fixture(database)


async def fill(world: ChatFixture) -> None:
    await store_conversations(
        world,
        ADA,
        *(build_conversation(n, f"We spoke about topic{n}.", "Yes.") for n in range(200)),
    )
    await store_conversations(world, EVE, build_conversation(7, "Eve hides topic7 from everybody."))
    await store_memories(world, ADA, [f"Ada owns boat{n}" for n in range(30)])
    await store_memories(world, EVE, ["Eve owns boat3 too"])


async def test_get_conversations_lists_a_time_span_newest_first_p4(library: ChatFixture) -> None:
    answer = await call_tool(
        library,
        "get_conversations",
        start_date="2026-01-11T00:00:00+01:00",
        end_date="2026-01-14T00:00:00+01:00",
    )

    assert [r["title"] for r in answer["results"]] == ["Talk 12", "Talk 11", "Talk 10"]
    assert [r["document"] for r in answer["results"]] == [1, 2, 3]
    assert answer["results"][0]["passages"] == []


async def test_get_conversations_brings_transcripts_only_when_asked_p4(
    library: ChatFixture,
) -> None:
    answer = await call_tool(library, "get_conversations", limit=1, include_transcript=True)

    assert answer["results"][0]["passages"] == ["Me: We spoke about topic199.\nAnn: Yes."]


async def test_get_conversations_lists_those_in_which_somebody_speaks_p4(
    library: ChatFixture,
) -> None:
    cara = {"Ann": Speaker(name="Cara Lind")}
    of_cara = [
        replace(build_conversation(n, "Ask Dana.", "Fine."), speakers=cara) for n in (210, 211)
    ]
    about_cara = build_conversation(212, "Cara Lind called.", "Did she?")
    await store_conversations(library, ADA, *of_cara, about_cara)

    one = await call_tool(library, "get_conversations", speaker="cara", limit=1)
    both = await call_tool(
        library, "get_conversations", speaker="Cara Lind", include_transcript=True
    )
    nobody = await call_tool(library, "get_conversations", speaker="Cara Berg")

    assert [(r["title"], r["passages"]) for r in one["results"]] == [("Talk 211", [])]
    assert [r["title"] for r in both["results"]] == ["Talk 211", "Talk 210"]
    assert both["results"][0]["passages"] == ["Me: Ask Dana.\nCara Lind: Fine."]
    assert nobody["results"] == []


@pytest.mark.parametrize(
    ("name", "arguments", "rows"),
    [
        ("get_conversations", {"limit": 20}, 20),
        ("get_conversations", {"limit": 20, "speaker": "Ann"}, 20),
        ("get_memories", {"limit": 10, "offset": 15}, 10),
    ],
)
async def test_a_list_that_is_cut_says_so_p4(
    library: ChatFixture, name: str, arguments: dict[str, Any], rows: int
) -> None:
    answer = await call_tool(library, name, **arguments)

    assert len(answer["results" if "results" in answer else "memories"]) == rows
    assert answer["note"].startswith("There are more")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_conversations", {"limit": 20, "start_date": "2026-07-01T00:00:00Z"}),
        ("get_memories", {"limit": 10, "offset": 20}),
    ],
)
async def test_a_list_that_is_whole_says_nothing_p4(
    library: ChatFixture, name: str, arguments: dict[str, Any]
) -> None:
    assert "note" not in await call_tool(library, name, **arguments)


async def test_a_list_of_conversations_goes_on_at_an_offset_and_has_a_total_p4(
    library: ChatFixture,
) -> None:
    year = {"start_date": "2026-01-11T00:00:00Z", "end_date": "2026-01-16T00:00:00Z"}

    first = await call_tool(library, "get_conversations", limit=2, **year)
    rest = await call_tool(library, "get_conversations", limit=3, offset=2, **year)
    beyond = await call_tool(library, "get_conversations", offset=5, **year)

    assert first["note"].startswith("There are more, 5 in all: the next begin at offset 2.")
    assert [r["title"] for r in rest["results"]] == ["Talk 12", "Talk 11", "Talk 10"]
    assert "note" not in rest
    assert beyond["results"] == []


async def test_a_speakers_conversations_go_on_at_an_offset_p4(library: ChatFixture) -> None:
    page = await call_tool(library, "get_conversations", speaker="Ann", limit=2, offset=149)

    assert [r["title"] for r in page["results"]] == ["Talk 50", "Talk 49"]
    assert page["note"].startswith("There are more: the next begin at offset 151.")
    with pytest.raises(ToolRefused, match="end_date"):
        await call_tool(library, "get_conversations", speaker="Ann", offset=150)


async def test_a_conversation_is_read_by_the_id_that_a_page_names_p24(library: ChatFixture) -> None:
    answer = await call_tool(
        library, "get_conversations", conversation_id="c007", include_transcript=True
    )

    [found] = answer["results"]
    assert (found["conversation_id"], found["passages"]) == (
        "c007",
        ["Me: We spoke about topic7.\nAnn: Yes."],
    )
    for name in ("c999", "../eve/conversations/c007"):
        with pytest.raises(ToolRefused, match="no conversation"):
            await call_tool(library, "get_conversations", conversation_id=name)


async def test_a_transcript_and_its_people_call_the_owner_user_p4(world: ChatFixture) -> None:
    await world.deps().stores.profiles.change(ADA, name="Ada Berg", own_names=("Addy",))
    base = build_conversation(3, "I bring the boat.", "Fine.")
    own = replace(
        base,
        speakers={"Me": Speaker(name="Addy", is_user=True)},
        topics=Topics(people=("Ada Berg", "addy", "Bea")),
    )
    await store_conversations(world, ADA, own)

    listed = await call_tool(world, "get_conversations", include_transcript=True)
    found = await call_tool(world, "search_conversations", query="boat")

    assert listed["results"][0]["passages"] == ["User: I bring the boat.\nAnn: Fine."]
    assert [r["people"] for r in (*listed["results"], *found["results"])] == [["Bea"], ["Bea"]]


async def test_a_result_has_its_end_people_tasks_and_events_p4(world: ChatFixture) -> None:
    base = build_conversation(3, "Bea sends the plan.")
    noted = replace(
        base,
        topics=Topics(people=("Bea",)),
        structured=replace(
            base.structured,
            action_items=(
                ExtractedItem(description="Call the harbour"),
                ExtractedItem(description="Send the plan", owner="other", owner_name="Bea"),
                ExtractedItem(description="Book a bus", owner="unknown"),
            ),
            events=(Event(title="Regatta", start=base.started_at),),
        ),
    )
    await store_conversations(world, ADA, noted, build_conversation(4, "Nothing much."))

    bare, full = (await call_tool(world, "get_conversations"))["results"]

    assert full["finished_at"] == "2026-01-04T09:05:00+00:00"
    assert full["people"] == ["Bea"]
    assert full["tasks"] == ["User: Call the harbour", "Bea: Send the plan", "Somebody: Book a bus"]
    assert full["events"] == ["Regatta, 2026-01-04T09:00:00+00:00"]
    assert not {"people", "tasks", "events"} & bare.keys()


@pytest.mark.parametrize(
    ("start", "end", "titles"),
    [
        ("2026-07-18T00:00:00Z", None, ["Talk 199", "Talk 198"]),
        (None, "2026-01-03T00:00:00Z", ["Talk 1", "Talk 0"]),
    ],
)
async def test_a_start_or_an_end_date_alone_limits_the_list_p11(
    library: ChatFixture, start: str | None, end: str | None, titles: list[str]
) -> None:
    answer = await call_tool(library, "get_conversations", start_date=start, end_date=end)

    assert [r["title"] for r in answer["results"]] == titles


async def test_search_conversations_ranks_the_matching_conversation_first_p4(
    library: ChatFixture,
) -> None:
    answer = await call_tool(library, "search_conversations", query="what about topic123", limit=3)

    assert answer["results"][0]["conversation_id"] == "c123"
    assert "topic123" in answer["results"][0]["passages"][0]


async def test_a_result_is_bare_json_in_its_fence_with_an_address_for_each_hit_x17(
    library: ChatFixture,
) -> None:
    tools = build_library_tools(library.deps(), ADA, UTC)
    [search] = [tool for tool in tools if tool.spec.name == "search_conversations"]
    render = await search.run({"query": "topic77", "limit": 1}, "c1")

    result = ToolResult(call_id="c1", text=render(Citations()), source=search.source)
    [message] = build_messages([result])
    opening, content, closing = message["content"].split("\n")
    assert (message["role"], opening, closing) == ("tool", '<data from="library">', "</data>")
    assert [hit["url"] for hit in json.loads(content)["results"]] == [
        "keepsake://conversations/c077"
    ]
    assert search.is_search


async def test_search_does_not_return_another_users_conversations_p11(library: ChatFixture) -> None:
    answer = await call_tool(library, "search_conversations", query="Eve hides topic7", limit=20)

    assert "Eve" not in json.dumps(answer)


async def test_search_conversations_within_dates_p4(library: ChatFixture) -> None:
    answer = await call_tool(
        library,
        "search_conversations",
        query="topic123",
        start_date="2026-06-01T00:00:00Z",
        limit=20,
    )

    assert all(r["started_at"] >= "2026-06-01" for r in answer["results"])


async def test_search_conversations_by_a_person_and_a_topic_p13(world: ChatFixture) -> None:
    budget = replace(build_conversation(1, "The plan"), topics=Topics(topics=("Budget",)))
    await store_conversations(world, ADA, budget, build_conversation(2, "The plan", "With Ann"))

    by_topic = await call_tool(world, "search_conversations", query="plan", topics=["budget"])
    by_person = await call_tool(world, "search_conversations", query="plan", people=["ANN"])

    assert [r["conversation_id"] for r in by_topic["results"]] == ["c001"]
    assert [r["conversation_id"] for r in by_person["results"]] == ["c002"]
    assert "note" not in by_topic | by_person


async def test_a_search_whose_filters_match_nothing_is_repeated_without_them_p13(
    library: ChatFixture,
) -> None:
    answer = await call_tool(
        library, "search_conversations", query="topic123", people=["Zoe"], topics=["Boats"], limit=1
    )

    assert [r["conversation_id"] for r in answer["results"]] == ["c123"]
    assert answer["note"] == FILTERS_DROPPED


async def test_a_search_that_shows_the_best_alone_says_so_p4(world: ChatFixture) -> None:
    await store_conversations(world, ADA, *(build_conversation(n, "Oak.") for n in range(3)))

    best = await call_tool(world, "search_conversations", query="oak", limit=2)
    whole = await call_tool(world, "search_conversations", query="oak", limit=4)

    assert (len(best["results"]), best["note"]) == (2, MORE_HITS)
    assert (len(whole["results"]), whole.get("note")) == (3, None)


async def test_a_search_that_leaves_out_what_fits_worse_does_not_say_so_p4(
    world: ChatFixture,
) -> None:
    others = [build_conversation(n, "A keel.") for n in range(3)]
    await store_conversations(world, ADA, build_conversation(4, "A keel of oak."), *others)

    best = await call_tool(world, "search_conversations", query="oak keel", limit=1)

    assert [result["conversation_id"] for result in best["results"]] == ["c004"]
    assert "note" not in best


async def test_a_search_of_memories_says_whether_others_fit_as_well_p4(
    library: ChatFixture,
) -> None:
    alike = await call_tool(library, "search_memories", query="ada", limit=2)
    single = await call_tool(library, "search_memories", query="boat3", limit=2)

    assert (len(alike["memories"]), alike["note"]) == (2, MORE_HITS)
    assert "note" not in single


async def test_a_search_without_hits_returns_a_note_p13(world: ChatFixture) -> None:
    answer = await call_tool(world, "search_conversations", query="plan", people=["Zoe"])

    assert answer == {"results": [], "note": "Nothing was found."}


async def test_a_conversation_written_by_an_app_is_labelled_as_such_t17(
    library: ChatFixture,
) -> None:
    path = conversation_path(ADA, ConversationId("c123"))
    await library.documents.write(Update(path, {"app_id": "notes"}))

    answer = await call_tool(library, "search_conversations", query="topic123", limit=2)

    written = {result["conversation_id"]: result.get("written_by") for result in answer["results"]}
    assert written.pop("c123") == "an app, not the owner"
    assert set(written.values()) <= {None}


async def test_a_memory_written_by_an_app_is_labelled_as_such_t17(library: ChatFixture) -> None:
    path = memory_path(ADA, MemoryId("m029"))
    await library.documents.write(Update(path, {"app_id": "notes"}))

    answer = await call_tool(library, "get_memories", limit=2)

    assert [fact.get("written_by") for fact in answer["memories"]] == [
        "an app, not the owner",
        None,
    ]


async def test_get_memories_pages_by_limit_and_offset_p4(library: ChatFixture) -> None:
    answer = await call_tool(library, "get_memories", limit=2, offset=1)

    assert [m["text"] for m in answer["memories"]] == ["Ada owns boat28", "Ada owns boat27"]
    assert answer["note"].startswith("There are more, 30 in all: the next begin at offset 3.")


async def test_search_memories_p4(library: ChatFixture) -> None:
    answer = await call_tool(library, "search_memories", query="boat3")

    assert answer["memories"][0]["text"] == "Ada owns boat3"
    assert "Eve" not in json.dumps(answer)


@needs_encoder
async def test_search_memories_finds_facts_that_share_no_word_with_the_query_e1(
    world: ChatFixture,
) -> None:
    facts = ["User is allergic to peanuts", "User drives a green Volvo", "User sold the boat"]
    async with open_encoder() as encoder:
        await store_memories(world, ADA, facts, embedder=encoder)
        search = Search(world.documents, world.vectors, encoder)
        deps = replace(world.deps(), search=search)
        tools = {tool.spec.name: tool for tool in build_library_tools(deps, ADA, UTC)}

        found = await tools["search_memories"].run({"query": "food restrictions"}, "c1")

    texts = [memory["text"] for memory in json.loads(found(Citations()))["memories"]]
    assert texts[0] == "User is allergic to peanuts"


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("get_conversations", {"start_date": "2026-01-01T00:00:00"}, "ISO 8601"),
        ("search_conversations", {"query": "x", "end_date": "yesterday"}, "must include timezone"),
        ("search_conversations", {}, "query: Field required"),
        ("search_conversations", {"query": ""}, "query: String should have at least 1 character"),
        ("get_conversations", {"limit": 5_000}, "limit: Input should be less than or equal to 50"),
        ("get_memories", {"page": 2}, "page: Extra inputs are not permitted"),
    ],
)
async def test_an_invalid_call_is_refused_with_a_correction_p4(
    world: ChatFixture, name: str, arguments: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ToolRefused, match="called wrongly") as refusal:
        await call_tool(world, name, **arguments)

    assert expected in str(refusal.value)


async def test_an_empty_library_says_that_nothing_was_found(world: ChatFixture) -> None:
    answer = await call_tool(world, "search_conversations", query="anything")

    assert answer == {"results": [], "note": "Nothing was found."}
