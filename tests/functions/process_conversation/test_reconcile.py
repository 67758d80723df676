"""What a new fact means beside what is known (C62, C63)."""

from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import pytest

from functions.process_conversation.reconcile import Candidate, reconcile
from functions.process_conversation.understand import SHOWN_MEMORIES
from shared.domain.changing import aspect
from shared.domain.conversation import Conversation
from shared.domain.ids import AppId, ConversationId, MemoryId
from shared.domain.memory import Memory
from tests.functions.process_conversation.client import client_of
from tests.functions.process_conversation.world import (
    ALICE,
    MEMORIES,
    START,
    STRUCTURE,
    World,
    memory,
    structure,
    talk,
    world_on,
)


def fact(content: str, *, hours: int = 0, **changes: object) -> Memory:
    at = START + timedelta(hours=hours)
    made = Memory(
        id=MemoryId(f"m{abs(hash((content, hours)))}"),
        content=content,
        category="system",
        created_at=at,
        updated_at=at,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def decided(new: Memory, *known: Memory, replaces: MemoryId | None = None) -> str:
    """Say in a word what becomes of a fact."""
    outcome = reconcile([Candidate(memory=new, replaces=replaces)], known)
    if outcome.repeated:
        return "strengthen"
    if not outcome.memories:
        return "drop"
    if outcome.corrections:
        return "supersede"
    return "keep" if outcome.memories[0].is_current else "superseded"


HOME = fact("User lives in Bergen")
LATER_HOME = fact("User lives in Porto", hours=1)
CASES = [
    (LATER_HOME, [], "keep"),
    (LATER_HOME, [fact("User loves jazz")], "keep"),
    (fact("user lives in BERGEN!", hours=1), [HOME], "strengthen"),
    (LATER_HOME, [HOME], "supersede"),
    (HOME, [LATER_HOME], "superseded"),
    (LATER_HOME, [replace(HOME, edited=True)], "drop"),
    (LATER_HOME, [replace(HOME, reviewed=True)], "drop"),
    (LATER_HOME, [replace(HOME, manually_added=True, category="manual")], "drop"),
    (fact("User's favourite tea is mint", hours=1), [fact("User's favourite tea is oolong")], "supersede"),
    (fact("User's favourite tea is mint", hours=1), [fact("User's favourite band is Abba")], "keep"),
    (fact("User works at Acme", hours=1), [HOME], "keep"),
    (fact("User wohnt in Köln", hours=1), [HOME], "supersede"),
    (fact("User likes tea", hours=1), [fact("User likes coffee")], "keep"),
    (HOME, [replace(LATER_HOME, app_id=AppId("app"))], "keep"),  # T17: an app's word, later
    (LATER_HOME, [replace(HOME, app_id=AppId("app"))], "supersede"),
]  # fmt: skip


@pytest.mark.parametrize(("new", "known", "verdict"), CASES)
def test_c63_a_fact_is_kept_repeated_or_a_correction(new, known, verdict):
    assert decided(new, *known) == verdict


def test_c63_the_model_may_say_what_a_fact_replaces():
    old = fact("User has no children")

    assert decided(fact("User has a daughter", hours=1), old, replaces=old.id) == "supersede"
    assert decided(fact("User has a daughter", hours=1), old) == "keep"


@pytest.mark.parametrize(
    ("content", "about"),
    [
        ("User lives in Rome", "home"),
        ("User moved to Rome", "home"),
        ("User habite à Lyon", "home"),
        ("User is 41 years old", "age"),
        ("User's favorite color is green", "favourite color"),
        ("User likes Rome", None),
        ("User is allergic to nuts", None),
    ],
)
def test_c63_only_some_facts_exclude_one_another(content, about):
    assert aspect(content) == about


def told(name: str, content: str, *, hours: int) -> tuple[Conversation, dict[str, object]]:
    """Build a conversation whose only fact is `content`, and what the model says of it."""
    at = START + timedelta(hours=hours)
    said = talk(content, id=ConversationId(name), started_at=at, finished_at=at, created_at=at)
    return said, memory(content, evidence=content)


class Reader:
    """Reads in each conversation the one fact it was built with."""

    def name(self, role: str) -> str:
        return "reader"

    async def structured(self, role: str, prompt, schema):
        said = prompt.data["transcript"][0]["text"]
        answers = {
            STRUCTURE: structure(title=said, action_items=[]),
            MEMORIES: {"memories": [memory(said, evidence=said)]},
        }
        return schema.model_validate(answers[prompt.name])


HOMES = [
    told("a", "User lives in Bergen", hours=0),
    told("b", "User lives in Porto", hours=1),
    told("c", "User lives in Rome", hours=2),
]


async def hear(world: World, *talks: tuple[Conversation, object]) -> None:
    for said, _ in talks:
        await world.write(said)
        await world.settle()


async def known(world: World) -> list[str]:
    return [one.content for one in await world.deps.memories.newest(ALICE, limit=9)]


@pytest.fixture
def listening(database) -> World:
    return world_on(database, Reader())  # type: ignore[arg-type]


@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_c63_newer_words_win_in_whichever_order_they_are_processed(listening, order):
    await hear(listening, *(HOMES[n] for n in order))

    assert await known(listening) == ["User lives in Rome"]
    rows = [row for row in await listening.row_ids() if row.endswith("#m")]
    assert len(rows) == 1


async def test_c63_what_was_superseded_is_kept_and_not_retrieved(listening):
    await hear(listening, *HOMES[:2])

    (now,) = await listening.deps.memories.newest(ALICE, limit=9)
    (before,) = await listening.deps.memories.superseded_by(ALICE, [now.id])
    assert (before.content, before.valid_to) == ("User lives in Bergen", now.created_at)


async def test_c63_the_owner_reads_what_a_fact_took_the_place_of(listening):
    await hear(listening, *HOMES)

    async with client_of(listening, ALICE) as alice:
        (now,) = (await alice.get("/v3/memories")).json()
        history = (await alice.get(f"/v3/memories/{now['id']}/history")).json()

    assert [one["content"] for one in history] == ["User lives in Porto", "User lives in Bergen"]
    assert history[0]["valid_to"] == now["created_at"]


@pytest.mark.parametrize(
    ("gone", "left"),
    [("c", ["User lives in Porto"]), ("b", ["User lives in Rome"]), ("a", ["User lives in Rome"])],
)
async def test_c63_without_its_correction_a_fact_holds_again(listening, gone, left):
    await hear(listening, *HOMES)

    await listening.delete(name=ConversationId(gone))
    await listening.settle()

    assert await known(listening) == left
    assert len([row for row in await listening.row_ids() if row.endswith("#m")]) == 1


async def test_c63_a_fact_said_again_outlives_the_first_conversation(listening):
    again = told("b", "User lives in Bergen", hours=1)
    await hear(listening, HOMES[0], again)
    (strong,) = await listening.deps.memories.newest(ALICE, limit=9)
    assert strong.seen_in == ("b",)

    await listening.delete(name=ConversationId("a"))
    await listening.settle()

    (left,) = await listening.deps.memories.newest(ALICE, limit=9)
    assert (left.content, left.conversation_id, left.evidence) == ("User lives in Bergen", "b", "")
    await listening.delete(name=ConversationId("b"))
    await listening.settle()
    assert await known(listening) == []


@pytest.mark.parametrize("said", ["user lives in BERGEN!", "User lives in Porto"])
async def test_c63_a_fact_is_known_however_much_has_been_learnt_since(listening, said):
    home = fact("User lives in Bergen")
    learnt = [fact(f"User met friend {n}", hours=n) for n in range(1, SHOWN_MEMORIES + 1)]
    for memory_ in (home, *learnt):
        await listening.deps.memories.add(ALICE, memory_)

    await hear(listening, told("later", said, hours=500))

    before = await listening.deps.memories.get(ALICE, home.id)
    repeats = said != "User lives in Porto"
    assert (before.is_current, before.seen_in) == (repeats, ("later",) if repeats else ())


async def test_c63_a_redelivery_strengthens_nothing_twice(listening):
    again = told("b", "User lives in Bergen", hours=1)
    await hear(listening, HOMES[0], again)
    for message in listening.events.of("conversation.changed"):
        await listening.deliver(message)

    (strong,) = await listening.deps.memories.newest(ALICE, limit=9)
    assert strong.seen_in == ("b",)
