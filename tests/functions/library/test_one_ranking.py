"""One ranking: the chat, the app, programs and other services find the same in the same order (E2)."""

import json
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from zoneinfo import ZoneInfo

import pytest

from functions.chat.context.citations import Citations
from functions.chat.tools.library_tools import build_library_tools
from functions.library.programs.integrations import library_reader
from functions.library.programs.integrations.integration_schemas import ExternalSearchIn
from functions.library.programs.mcp_server.tools import TOOLS
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.library.deps import LibraryDeps
from tests.fixtures.chat import ChatFixture, build_chat_fixture
from tests.fixtures.library import CONVERSATIONS, build_client, build_library_deps
from tests.fixtures.processing import ALICE, ProcessingFixture
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.library.programs.test_developer_api import ANSWER, ASK, open_script

Ask = Callable[[str], Awaitable[list[str]]]
WORDS = ["boat", "harbour", "lantern", "anchor", "oyster", "pilot"]
QUESTIONS = [
    "boat lantern anchor",
    "boat lantern pilot",
    "boat anchor oyster",
    "boat oyster pilot",
    "harbour anchor pilot",
]
TALKS = 18


@pytest.fixture
async def chat(database: SqliteDatabase) -> ChatFixture:
    """A library of more rows than a query returns, in which long conversations crowd out others."""
    chat = build_chat_fixture(database)
    draw = random.Random(1)  # noqa: S311 - a repeatable library, no secret
    talks = [
        build_conversation(
            n, *(" ".join(draw.choices(WORDS, k=draw.randint(1, 4))) for _ in range(3 + n * n // 2))
        )
        for n in range(TALKS)
    ]
    await store_conversations(chat, ALICE, *talks)
    return chat


async def ask_chat(chat: ChatFixture, question: str) -> list[str]:
    tools = build_library_tools(chat.deps(), ALICE, ZoneInfo("UTC"))
    search = next(tool for tool in tools if tool.spec.name == "search_conversations")
    present = await search.run({"query": question, "limit": TALKS}, "c1")
    return read_ids(json.loads(present(Citations()))["results"], "conversation_id")


async def ask_route(world: ProcessingFixture, question: str) -> list[str]:
    """Ask for pages, as the released app does."""
    async with build_client(world, ALICE) as client:
        pages = [
            (await client.post(f"{CONVERSATIONS}/search", json={"query": question, "page": n}))
            for n in (1, 2)
        ]
    return [name for page in pages for name in read_ids(page.json()["items"])]


async def ask_mcp(deps: LibraryDeps, question: str) -> list[str]:
    arguments = {"query": question, "limit": 50}
    found = json.loads(await TOOLS["search_conversations"].call(deps, ALICE, arguments))
    return read_ids(found["conversations"])


async def ask_connector(deps: LibraryDeps, question: str) -> list[str]:
    found = json.loads(await TOOLS["search"].call(deps, ALICE, {"query": question}))
    return [name.removeprefix("conversation:") for name in read_ids(found["results"])]


async def ask_integration(deps: LibraryDeps, question: str) -> list[str]:
    body = ExternalSearchIn(query=question, per_page=50)
    found = await library_reader.search_conversations(deps, ALICE, body, max_segments=0)
    return [conversation.id for conversation in found.conversations]


async def ask_script(world: ProcessingFixture, question: str) -> list[str]:
    """Ask by a developer key; the sources of the answer are what was found."""
    world.model._answers[ANSWER] = [{"answer": "Here."}]
    async with await open_script(world) as script:
        answer = await script.post(ASK, json={"question": question, "limit": TALKS})
    return read_ids(answer.json()["sources"])


def read_ids(rows: Sequence[Mapping[str, str]], name: str = "id") -> list[str]:
    return [row[name] for row in rows]


@pytest.mark.parametrize("question", QUESTIONS)
async def test_the_same_question_finds_the_same_in_the_same_order_everywhere_e2(
    world: ProcessingFixture, chat: ChatFixture, question: str
):
    deps = build_library_deps(world)
    faces: dict[str, Ask] = {
        "chat": partial(ask_chat, chat),
        "route": partial(ask_route, world),
        "connector": partial(ask_connector, deps),
        "integration": partial(ask_integration, deps),
        "developer API": partial(ask_script, world),
    }

    expected = await ask_mcp(deps, question)
    found = {name: await ask(question) for name, ask in faces.items()}

    assert len(expected) == TALKS
    for name, ids in found.items():
        assert ids == expected[: len(ids)], name
    assert {len(ids) for name, ids in found.items() if name != "connector"} == {TALKS}


@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_greater_limit_changes_no_order_e2(chat: ChatFixture, question: str):
    search = chat.deps().search

    by_limit = [
        [hit.conversation.id for hit in await search.search_conversations(ALICE, question, limit=n)]
        for n in (1, 2, 5, 50)
    ]

    assert len(by_limit[-1]) == TALKS
    assert [ids == by_limit[-1][: len(ids)] for ids in by_limit] == [True] * 4
