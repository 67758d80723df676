"""Reconciliation of a new fact with known ones: stored, repeated or a correction (C62, C63)."""

from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import pytest

from functions.process_conversation.processing.extract_content import MAX_SHOWN_MEMORIES
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.ids import AppId, ConversationId, MemoryId
from shared.domain.memories.memory import Memory
from shared.domain.models.model import SAFE_WINDOW_TOKENS, ModelFacts
from shared.library.exclusive_facts import find_exclusive_key
from shared.library.reconcile import Candidate, reconcile
from tests.fault_injection import Crash
from tests.fixtures.encoder import needs_encoder, open_encoder
from tests.fixtures.library import build_client
from tests.fixtures.processing import (
    ALICE,
    EXTRACTION,
    START,
    ProcessingFixture,
    build_extraction_output,
    build_memory_output,
    build_processing_fixture,
    build_test_conversation,
)
from tests.functions.process_conversation.test_interruptions import (
    Interruption,
    deliver_until_idle,
)


def build_fact(content: str, *, hours: int = 0, **changes: object) -> Memory:
    at = START + timedelta(hours=hours)
    base = Memory(
        id=MemoryId(f"m{abs(hash((content, hours)))}"),
        content=content,
        category="system",
        created_at=at,
        updated_at=at,
        aspect=find_exclusive_key(content),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def decide_verdict(
    new: Memory,
    *known_memories: Memory,
    replaces: MemoryId | None = None,
    repeats: MemoryId | None = None,
) -> str:
    """Reconcile one fact, and name the outcome."""
    candidate = Candidate(memory=new, replaced_id=replaces, repeated_id=repeats)
    outcome = reconcile([candidate], known_memories)
    if outcome.repeated_ids:
        return "strengthen"
    if not outcome.memories:
        return "drop"
    if outcome.corrections:
        return "supersede"
    return "keep" if outcome.memories[0].is_current else "superseded"


HOME = build_fact("User lives in Bergen")
LATER_HOME = build_fact("User lives in Porto", hours=1)
CASES = [
    (LATER_HOME, [], "keep"),
    (LATER_HOME, [build_fact("User loves jazz")], "keep"),
    (build_fact("user lives in BERGEN!", hours=1), [HOME], "strengthen"),
    (LATER_HOME, [HOME], "supersede"),
    (HOME, [LATER_HOME], "superseded"),
    (LATER_HOME, [replace(HOME, edited=True)], "drop"),
    (LATER_HOME, [replace(HOME, reviewed=True)], "drop"),
    (LATER_HOME, [replace(HOME, manually_added=True, category="manual")], "drop"),
    (build_fact("User's favourite tea is mint", hours=1), [build_fact("User's favourite tea is oolong")], "supersede"),
    (build_fact("User's favourite tea is mint", hours=1), [build_fact("User's favourite band is Abba")], "keep"),
    (build_fact("User works at Acme", hours=1), [HOME], "keep"),
    (build_fact("User wohnt in Köln", hours=1, aspect="home"), [HOME], "supersede"),
    (build_fact("User likes tea", hours=1), [build_fact("User likes coffee")], "keep"),
    (build_fact("User loves the tea", hours=1), [build_fact("User likes tea")], "strengthen"),
    (HOME, [replace(LATER_HOME, app_id=AppId("app"))], "keep"),  # T17: an app wrote it later
    (LATER_HOME, [replace(HOME, app_id=AppId("app"))], "supersede"),
]  # fmt: skip


@pytest.mark.parametrize(("new", "known", "verdict"), CASES)
def test_a_fact_is_kept_repeated_or_a_correction_c63(new, known, verdict):
    assert decide_verdict(new, *known) == verdict


def test_the_model_may_say_what_a_fact_repeats_in_other_words_p14():
    jazz = build_fact("User loves jazz")
    new = build_fact("Jazz is the music User likes best", hours=1)

    assert decide_verdict(new, jazz, repeats=jazz.id) == "strengthen"
    assert decide_verdict(new, jazz, repeats=MemoryId("unknown")) == "keep"
    assert decide_verdict(new, jazz, replaces=jazz.id, repeats=jazz.id) == "supersede"


def test_another_home_repeats_none_whatever_the_model_says_p14():
    assert decide_verdict(LATER_HOME, HOME, repeats=HOME.id) == "supersede"


def test_the_model_may_say_what_a_fact_replaces_c63():
    old = build_fact("User has no children")

    assert (
        decide_verdict(build_fact("User has a daughter", hours=1), old, replaces=old.id)
        == "supersede"
    )
    assert decide_verdict(build_fact("User has a daughter", hours=1), old) == "keep"


def build_talk(name: str, content: str, *, hours: int) -> tuple[Conversation, dict[str, object]]:
    """Build a conversation whose only fact is `content`, and the model's answer."""
    at = START + timedelta(hours=hours)
    conversation = build_test_conversation(
        content, id=ConversationId(name), started_at=at, finished_at=at, created_at=at
    )
    return conversation, build_home_output(content)


def build_home_output(content: str) -> dict[str, object]:
    return build_memory_output(content, evidence=content, exclusive_key="home")


class SingleFactReader:
    """A model that answers each conversation with the one fact that it was built with."""

    def name(self, role: str) -> str:
        return "reader"

    def describe(self, role: str) -> ModelFacts:
        return ModelFacts()

    async def complete_structured(self, role: str, prompt, schema):
        text = prompt.data["transcript"][0]["text"]
        answers = {
            EXTRACTION: build_extraction_output(
                build_home_output(text), title=text, action_items=[]
            )
        }
        return schema.model_validate(answers[prompt.name])


HOMES = [
    build_talk("a", "User lives in Bergen", hours=0),
    build_talk("b", "User lives in Porto", hours=1),
    build_talk("c", "User lives in Rome", hours=2),
]


async def process_talks(world: ProcessingFixture, *talks: tuple[Conversation, object]) -> None:
    for conversation, _ in talks:
        await world.write(conversation)
        await world.deliver_all()


async def list_contents(world: ProcessingFixture) -> list[str]:
    return [fact.content for fact in await world.deps.stores.memories.list_newest(ALICE, limit=9)]


@pytest.fixture
def reader_world(database) -> ProcessingFixture:
    return build_processing_fixture(database, SingleFactReader())  # type: ignore[arg-type]


@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_newer_words_win_in_whichever_order_they_are_processed_c63(reader_world, order):
    await process_talks(reader_world, *(HOMES[n] for n in order))

    assert await list_contents(reader_world) == ["User lives in Rome"]
    rows = [row for row in await reader_world.list_row_ids() if row.endswith("#m")]
    assert len(rows) == 1


async def test_a_superseded_memory_is_kept_and_not_retrieved_c63(reader_world):
    await process_talks(reader_world, *HOMES[:2])

    (current,) = await reader_world.deps.stores.memories.list_newest(ALICE, limit=9)
    (superseded_memory,) = await reader_world.deps.stores.memories.list_superseded_by(
        ALICE, [current.id]
    )
    assert (superseded_memory.content, superseded_memory.valid_to) == (
        "User lives in Bergen",
        current.created_at,
    )


async def test_a_home_that_the_owner_wrote_or_edited_is_not_corrected_by_a_conversation_c63(
    reader_world,
):
    async with build_client(reader_world, ALICE) as alice:
        memory = (await alice.post("/v3/memories", json={"content": "User likes Oslo"})).json()
        await alice.patch(f"/v3/memories/{memory['id']}", params={"value": "User lives in Oslo"})

    await process_talks(reader_world, HOMES[2])

    assert await list_contents(reader_world) == ["User lives in Oslo"]


async def test_the_history_of_a_memory_lists_what_it_superseded_c63(reader_world):
    await process_talks(reader_world, *HOMES)

    async with build_client(reader_world, ALICE) as alice:
        (current,) = (await alice.get("/v3/memories")).json()
        history = (await alice.get(f"/v3/memories/{current['id']}/history")).json()

    assert [old_memory["content"] for old_memory in history] == [
        "User lives in Porto",
        "User lives in Bergen",
    ]
    assert history[0]["valid_to"] == current["created_at"]


@pytest.mark.parametrize(
    ("deleted_name", "remaining"),
    [("c", ["User lives in Porto"]), ("b", ["User lives in Rome"]), ("a", ["User lives in Rome"])],
)
@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_removing_a_correction_restores_the_corrected_fact_c63(
    reader_world, order, deleted_name, remaining
):
    await process_talks(reader_world, *(HOMES[n] for n in order))

    await reader_world.delete(name=ConversationId(deleted_name))
    await reader_world.deliver_all()

    assert await list_contents(reader_world) == remaining
    assert len([row for row in await reader_world.list_row_ids() if row.endswith("#m")]) == 1


async def test_a_repeated_fact_is_kept_when_its_first_conversation_is_deleted_c63(reader_world):
    repetition = build_talk("b", "User lives in Bergen", hours=1)
    await process_talks(reader_world, HOMES[0], repetition)
    (repeated_fact,) = await reader_world.deps.stores.memories.list_newest(ALICE, limit=9)
    assert repeated_fact.seen_in == ("b",)

    await reader_world.delete(name=ConversationId("a"))
    await reader_world.deliver_all()

    (remaining_fact,) = await reader_world.deps.stores.memories.list_newest(ALICE, limit=9)
    assert (remaining_fact.content, remaining_fact.conversation_id, remaining_fact.evidence) == (
        "User lives in Bergen",
        "b",
        "",
    )
    await reader_world.delete(name=ConversationId("b"))
    await reader_world.deliver_all()
    assert await list_contents(reader_world) == []


@pytest.mark.parametrize("content", ["user lives in BERGEN!", "User lives in Porto"])
async def test_an_old_fact_is_still_compared_after_many_newer_ones_c63(reader_world, content):
    home = build_fact("User lives in Bergen")
    newer_facts = [
        build_fact(f"User met friend {n}", hours=n) for n in range(1, MAX_SHOWN_MEMORIES + 1)
    ]
    for memory_ in (home, *newer_facts):
        await reader_world.deps.stores.memories.add(ALICE, memory_)

    await process_talks(reader_world, build_talk("later", content, hours=500))

    old_fact = await reader_world.deps.stores.memories.get(ALICE, home.id)
    repeats = content != "User lives in Porto"
    assert (old_fact.is_current, old_fact.seen_in) == (repeats, ("later",) if repeats else ())


async def test_a_redelivery_counts_a_repeated_fact_once_c63(reader_world):
    repetition = build_talk("b", "User lives in Bergen", hours=1)
    await process_talks(reader_world, HOMES[0], repetition)
    for message in reader_world.events.list_by_topic("conversation.changed"):
        await reader_world.deliver(message)

    (repeated_fact,) = await reader_world.deps.stores.memories.list_newest(ALICE, limit=9)
    assert repeated_fact.seen_in == ("b",)


class JazzReader(SingleFactReader):
    """A model that knows its first fact again, whatever the words."""

    async def complete_structured(self, role: str, prompt, schema):
        if prompt.name != EXTRACTION:
            return await super().complete_structured(role, prompt, schema)
        text = prompt.data["transcript"][0]["text"]
        repeats = 0 if prompt.data["existing_memories"] else None
        return schema.model_validate(
            build_extraction_output(build_memory_output(text, evidence=text, repeats=repeats))
        )


async def test_a_fact_in_other_words_is_known_again_p14(database):
    world = build_processing_fixture(database, JazzReader())  # type: ignore[arg-type]
    first, _ = build_talk("a", "User loves jazz music", hours=0)
    second, _ = build_talk("b", "Jazz is what User likes best", hours=1)

    await process_talks(world, (first, None), (second, None))

    [memory] = await world.deps.stores.memories.list_newest(ALICE, limit=9)
    assert memory.content == "User loves jazz music"
    assert list(memory.seen_in) == [second.id]


class DaughterReader(SingleFactReader):
    """A model that finds the fact that a daughter makes untrue, wherever it stands in the list."""

    async def complete_structured(self, role: str, prompt, schema):
        if prompt.name != EXTRACTION:
            return await super().complete_structured(role, prompt, schema)
        known = prompt.data["existing_memories"]
        number = next((m["number"] for m in known if m["text"] == CHILDLESS.content), None)
        text = prompt.data["transcript"][0]["text"]
        return schema.model_validate(
            build_extraction_output(build_memory_output(text, evidence=text, replaces=number))
        )


CHILDLESS = build_fact("User has no children")
NEW_FRIEND = build_fact("User met Ann", hours=9)


@pytest.mark.parametrize("cut", range(1, 13))
async def test_an_attempt_that_is_repeated_corrects_what_the_model_was_shown_c63(database, cut):
    async def write_and_crash() -> None:
        await Stores(world.documents).memories.add(ALICE, NEW_FRIEND)
        raise Crash

    interruption = Interruption(at=cut, action=write_and_crash, after=True)
    world = build_processing_fixture(database, DaughterReader(), interruption.wrap)  # type: ignore[arg-type]
    await Stores(world.documents).memories.add(ALICE, CHILDLESS)
    conversation, _ = build_talk("a", "User has a daughter", hours=1)
    await world.write(conversation)

    await deliver_until_idle(world)

    assert sorted(await list_contents(world)) == ["User has a daughter", "User met Ann"]


class NutsReader(SingleFactReader):
    """A model that knows a fact about nuts again, where it is shown or asked to compare."""

    def __init__(self, window_tokens: int = SAFE_WINDOW_TOKENS) -> None:
        self._facts = ModelFacts(window_tokens=window_tokens)
        self.shown: list[str] = []
        self.compared: list[str] = []

    def describe(self, role: str) -> ModelFacts:
        return self._facts

    async def complete_structured(self, role: str, prompt, schema):
        if prompt.name == EXTRACTION:
            text = prompt.data["transcript"][0]["text"]
            self.shown = [known["text"] for known in prompt.data["existing_memories"]]
            nuts = ALLERGIC.content
            repeats = self.shown.index(nuts) if nuts in self.shown else None
            fact = build_memory_output(text, evidence=text, repeats=repeats)
            answer = build_extraction_output(fact)
        elif prompt.name == "comparison":
            self.compared = [known["text"] for known in prompt.data["known"]]
            answer = {"verdicts": [{"fact": 0, "repeats": self.compared.index(ALLERGIC.content)}]}
        else:
            return await super().complete_structured(role, prompt, schema)
        return schema.model_validate(answer)


ALLERGIC = build_fact("User is allergic to peanuts")
OTHERS = tuple(
    build_fact(fact, hours=1)
    for fact in ("User prefers tea to coffee", "User bakes bread", "User has a cat")
)


CHATTER = "Well, and then it rained again for most of the afternoon, as it does so often here."


@needs_encoder
@pytest.mark.parametrize(
    ("newer", "window_tokens", "is_shown"),
    [(MAX_SHOWN_MEMORIES, SAFE_WINDOW_TOKENS, False), (90, 4_096, True)],
)
async def test_an_old_fact_in_other_words_is_known_again_however_many_are_newer_c63(
    database, newer, window_tokens, is_shown
):
    """It is shown where it is near to what was said; else it is compared with what was found."""
    model = NutsReader(window_tokens)
    async with open_encoder() as encoder:
        world = build_processing_fixture(database, model, embedder=encoder)  # type: ignore[arg-type]
        friends = [build_fact(f"User met friend {n}", hours=n) for n in range(2, newer + 2)]
        for memory in (ALLERGIC, *OTHERS, *friends):
            await world.deps.stores.memories.add(ALICE, memory)
        await world.deps.index.put_memories(ALICE, (ALLERGIC, *OTHERS))

        talk, fact = build_talk("a", "User would swell up from groundnuts", hours=500)
        others = () if is_shown else (Segment(text=CHATTER, is_user=True),) * 12
        segments = (*talk.transcript_segments, *others)
        await process_talks(world, (replace(talk, transcript_segments=segments), fact))

    known_again = await world.deps.stores.memories.get(ALICE, ALLERGIC.id)
    assert known_again.seen_in == ("a",)
    assert (ALLERGIC.content in model.shown, ALLERGIC.content in model.compared) == (
        is_shown,
        not is_shown,
    )
    assert await world.deps.stores.memories.list_for_conversation(ALICE, ConversationId("a")) == []


async def test_an_old_fact_with_the_same_words_in_other_forms_is_known_again_c63(reader_world):
    tea = build_fact("User likes strong tea")
    newer = [build_fact(f"User met friend {n}", hours=n) for n in range(1, MAX_SHOWN_MEMORIES + 1)]
    for memory in (tea, *newer):
        await reader_world.deps.stores.memories.add(ALICE, memory)
    await reader_world.deps.index.put_memories(ALICE, [tea])

    await process_talks(reader_world, build_talk("a", "User loves the strong tea", hours=500))

    assert (await reader_world.deps.stores.memories.get(ALICE, tea.id)).seen_in == ("a",)
