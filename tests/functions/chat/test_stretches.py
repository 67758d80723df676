"""Stretches of chats: one arc each, and what their owner said of themselves (C59, C60, C62, C64, C65, M122)."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar, cast

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.api.internal_routes import STRETCH_ROUTES
from functions.chat.deps import StretchDeps
from functions.chat.sessions.delete_chat import delete_chat
from functions.chat.stretches.end_stretch import MAX_KNOWN, end_stretch
from functions.chat.stretches.promotion import is_promoted
from functions.chat.turn.after_turn import after_turn
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.data.account.quotas import Quotas
from shared.data.chats.crisis_log import CrisisLog
from shared.data.search.library_index import LibraryIndex
from shared.data.search.question_meaning import QuestionMeanings
from shared.data.search.search import Search
from shared.data.store.codec import dump, type_adapter
from shared.data.stores import Stores
from shared.domain.chats.arc import SILENCE, Arc, Statement, take_stretch
from shared.domain.chats.chat import MAIN_SESSION, Message
from shared.domain.chats.chat_notes import AnswerNotes
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import AppId, ConversationId, MessageId, SessionId
from shared.domain.memories.memory import Memory
from shared.domain.models.model import ModelRole, Prompt
from shared.library.owner_memories import delete_memory
from shared.ports import ChatModel, Documents, EncodeQuestion
from tests.fakes import FixedClock, ScriptedModel, UnmaskedModels, script_answer
from tests.fault_injection import Crash, FaultInjector, WatchedPort
from tests.fixtures.callers import (
    IDENTITY,
    SERVICE_IDENTITY,
    build_service_headers,
    open_client,
)
from tests.fixtures.chat import ADA, EVE, PSEUDONYMS, ChatFixture, build_chat_fixture
from tests.fixtures.storage import MemoryDatabase
from tests.functions.chat.chats import (
    GONE_ANSWER,
    WORK,
    build_after_turn_deps,
    load_session,
    store_messages,
)
from tests.functions.chat.library import store_memories
from tests.functions.chat.test_crisis_gate import CERTAIN
from tests.functions.chat.test_message_routes import ask, open_chat
from tests.functions.chat.test_turn import build_app
from tests.shared.library.test_polarity import read_as

T = TypeVar("T")
NOW = FixedClock().now()
MAX_STEPS = 60
DOG = "I have a dog called Bello and we walk every morning"
STRETCH: dict[str, Any] = {
    "summary": "The owner wanted to plan walks with Bello.",
    "themes": ["dog", "walks", "mornings", "rain"],
    "mood_opened": "tired",
    "mood_closed": "glad",
    "open_loops": ["Buy a leash"],
}
HAS_DOG = {
    "text": "User has a dog called Bello",
    "use": "fact",
    "message": 0,
    "quote": "I have a dog called Bello",
    "term": "Bello",
    "kind": "lasting",
    "timing": "now",
}
OWES = {**HAS_DOG, "text": "User owes Mallory 900 euros"}


def build_deps(
    world: ChatFixture,
    model: ChatModel | None = None,
    documents: Documents | None = None,
    encode: EncodeQuestion | None = None,
) -> StretchDeps:
    documents = documents or world.documents
    return StretchDeps(
        identity=IDENTITY,
        service_identity=SERVICE_IDENTITY,
        clock=world.clock,
        model=UnmaskedModels(model=model or ScriptedModel()),
        stores=Stores(documents),
        index=LibraryIndex(world.vectors),
        search=Search(documents, world.vectors),
        meanings=QuestionMeanings(encode),
        crisis_log=CrisisLog(documents, PSEUDONYMS),
        quotas=Quotas(documents, {}),
    )


def script(*statements: dict[str, Any], **changes: Any) -> ScriptedModel:
    answer = {**STRETCH, "statements": list(statements), **changes}
    return ScriptedModel(answers={"chat/stretch": [answer]})


class EndlessScript(ScriptedModel):
    """Answers as often as it is asked."""

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        answer = {**STRETCH, "statements": [HAS_DOG]}
        return cast("T", type_adapter(schema).validate_python(answer))


async def end(
    world: ChatFixture, model: ChatModel | None = None, session_id: SessionId = MAIN_SESSION
) -> None:
    """End the stretch of a chat as its task does."""
    session = await load_session(world, session_id)
    world.clock.advance(seconds=SILENCE.total_seconds())
    await end_stretch(build_deps(world, model), ADA, session_id, session.updated_at)


async def end_with(world: ChatFixture, *statements: dict[str, Any], **changes: Any) -> None:
    with script(*statements, **changes) as model:
        await end(world, model)


async def list_arcs(world: ChatFixture) -> list[Arc]:
    return await world.deps().stores.arcs.list_newest(ADA, limit=9)


async def list_memories(world: ChatFixture) -> list[Memory]:
    return await world.deps().stores.memories.list_newest(ADA, limit=9)


async def test_a_stretch_has_one_arc_within_its_limits_c60(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.", "And how long is the walk?", "An hour.")

    await end_with(world, summary="x " * 900)

    (arc,) = await list_arcs(world)
    assert len(arc.summary) <= 600
    assert (arc.turn_count, arc.themes) == (2, ("dog", "walks", "mornings"))
    assert (arc.mood_opened, arc.mood_closed, arc.open_loops) == ("tired", "glad", ("Buy a leash",))
    assert arc.created_at - arc.started_at == timedelta(seconds=3)
    assert (arc.is_settled, arc.crisis_level_max) == (True, 0)


async def test_a_turn_has_one_task_twenty_minutes_after_it_c65(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.")
    with ScriptedModel() as model:
        for _ in range(2):
            await after_turn(build_after_turn_deps(world, model), ADA, MAIN_SESSION, GONE_ANSWER)

    (task,) = world.tasks.list_by_target("end_stretch")
    session = await load_session(world)
    assert task.at == session.updated_at + timedelta(minutes=20)
    assert task.body["until"] == session.updated_at.isoformat()


async def test_a_task_delivered_twice_makes_one_arc_c65(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.")
    session = await load_session(world)
    body = {"uid": ADA, "session_id": MAIN_SESSION, "until": session.updated_at.isoformat()}
    headers = await build_service_headers("end_stretch")
    with script(HAS_DOG) as model:
        async with open_client("end_stretch", STRETCH_ROUTES, build_deps(world, model)) as http:
            statuses = [
                (await http.post("/", json=body, headers=headers)).status_code for _ in "12"
            ]

    assert statuses == [204, 204]
    assert len(await list_arcs(world)) == len(await list_memories(world)) == 1


async def test_two_tasks_at_once_make_one_arc_and_one_fact_c65(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.")
    until = (await load_session(world)).updated_at
    deps = build_deps(world, EndlessScript())

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(end_stretch, deps, ADA, MAIN_SESSION, until)

    (arc,) = await list_arcs(world)
    assert (arc.is_settled, arc.statements) == (True, ())
    assert [memory.content for memory in await list_memories(world)] == [HAS_DOG["text"]]


async def test_a_stretch_that_goes_on_is_left_to_its_later_task_c65(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.")
    until = (await load_session(world)).updated_at
    await store_messages(world, "And we also have a cat since last year", "Oh.")

    await end_stretch(build_deps(world), ADA, MAIN_SESSION, until)

    assert await list_arcs(world) == []


async def test_a_late_task_ends_its_own_stretch_alone_c65(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.")
    until = (await load_session(world)).updated_at
    world.clock.advance(seconds=1_200)
    await store_messages(world, "Let us speak of something else entirely, please", "Yes.")
    with script() as model:
        await end_stretch(build_deps(world, model), ADA, MAIN_SESSION, until)

    (arc,) = await list_arcs(world)
    assert (arc.created_at, arc.turn_count) == (until, 1)
    ((_, prompt),) = model.prompts
    assert [m["text"] for m in prompt.data["messages"]] == [DOG, "Nice."]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=30))
def test_each_message_is_in_one_stretch_c65(gaps: list[int]) -> None:
    times = [NOW + timedelta(minutes=sum(gaps[: n + 1])) for n in range(len(gaps))]
    newest_first = [
        Message(
            id=MessageId(f"m{n}"), session_id=MAIN_SESSION, text="", sender="human", created_at=time
        )
        for n, time in enumerate(times)
    ][::-1]

    stretches = [take_stretch(newest_first, until) for until in sorted(set(times))]

    ids = [message.id for stretch in stretches for message in stretch]
    assert sorted(ids) == sorted(message.id for message in newest_first)


async def test_small_talk_asks_no_model_c60(world: ChatFixture) -> None:
    await store_messages(world, "Hello there", "Hi.")

    await end(world)

    assert await list_arcs(world) == []


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("I'm vegan", "User is vegan"),
        ("Ich bin Veganerin.", "User ist Veganerin"),
        ("我吃素", "User吃素"),
        ("My son is Ole", "User's son is Ole"),
    ],
)
async def test_a_short_statement_is_read_c65(world: ChatFixture, said: str, text: str) -> None:
    await store_messages(world, said, "Good to know.")
    fact = {**HAS_DOG, "text": text, "quote": said, "term": said}

    await end_with(world, fact)

    assert [memory.evidence for memory in await list_memories(world)] == [said]


async def test_a_fact_rests_on_the_owners_own_words_c59(world: ChatFixture) -> None:
    await store_messages(world, DOG, "You like cats, I see.")
    wrong = [
        {**HAS_DOG, "quote": "I have a dog named Bello"},
        {**HAS_DOG, "message": 1, "quote": "You like cats"},
        {**HAS_DOG, "quote": "og called Bello"},
        {**HAS_DOG, "message": 7},
        {**HAS_DOG, "text": "word " * 16},
    ]

    await end_with(world, *wrong, HAS_DOG)

    (memory,) = await list_memories(world)
    assert (memory.content, memory.evidence) == ("User has a dog called Bello", HAS_DOG["quote"])
    assert (memory.session_id, memory.created_at) == (MAIN_SESSION, NOW + timedelta(seconds=1))
    assert [m.id for m in await world.deps().search.search_memories(ADA, "Bello", limit=3)] == [
        memory.id
    ]


async def test_what_its_quotation_does_not_prove_waits_for_its_owners_click_m122(
    world: ChatFixture,
) -> None:
    _, answer = await store_messages(world, DOG, "Lovely.")
    messages = world.deps().stores.messages
    await messages.change(ADA, answer.id, notes=dump(AnswerNotes()))

    await end_with(world, OWES)

    notes = (await messages.get(ADA, answer.id)).notes
    assert await list_memories(world) == []
    assert notes is not None
    assert [action.arguments for action in notes.actions] == [{"content": OWES["text"]}]


async def test_a_fact_whose_quotation_says_that_it_is_over_is_not_written_m122(
    world: ChatFixture,
) -> None:
    gone = "My dog called Bello is gone"
    await store_messages(world, f"{gone} since we moved to town, and I miss him", "I'm sorry.")
    session = await load_session(world, MAIN_SESSION)
    encode = read_as({gone: "denies", str(HAS_DOG["text"]): "affirms"})

    world.clock.advance(seconds=SILENCE.total_seconds())
    with script({**HAS_DOG, "quote": gone}) as model:
        deps = build_deps(world, model, encode=encode)
        await end_stretch(deps, ADA, MAIN_SESSION, session.updated_at)

    assert await list_memories(world) == []


class NotingScript(ScriptedModel):
    """Other notes of an answer are stored while it reads."""

    note: Callable[[], Awaitable[None]]

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        await self.note()
        return await super().complete_structured(role, prompt, schema)


async def test_a_suggestion_loses_nothing_that_was_noted_meanwhile_m122(world: ChatFixture) -> None:
    _, answer = await store_messages(world, DOG, "Lovely.")
    messages = world.deps().stores.messages
    await messages.change(ADA, answer.id, notes=dump(AnswerNotes(follow_ups=("What breed?",))))
    noted = dump(AnswerNotes(follow_ups=("How old is Bello?",)))
    model = NotingScript(answers={"chat/stretch": [{**STRETCH, "statements": [OWES]}]})
    model.note = partial(messages.change, ADA, answer.id, notes=noted)

    await end(world, model)

    notes = (await messages.get(ADA, answer.id)).notes
    assert notes is not None
    assert (notes.follow_ups, len(notes.actions)) == (("How old is Bello?",), 1)


@pytest.mark.parametrize("kind", ["for_now", "joke", "mention", "question", "command", "unsafe"])
async def test_what_is_not_meant_to_last_is_dropped_c62(world: ChatFixture, kind: str) -> None:
    await store_messages(world, DOG, "Nice.", "Bello, my dog Bello, that is him", "Yes.")

    await end_with(world, {**HAS_DOG, "kind": kind})

    assert await list_memories(world) == []
    assert (await list_arcs(world))[0].statements == ()


WEAK = {**HAS_DOG, "timing": "repeat"}


async def test_what_was_said_weakly_waits_for_another_stretch_c64(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.")
    await end_with(world, WEAK, summary="Small things.")
    first = await list_memories(world)
    await store_messages(world, f"As I said, {DOG}", "Yes.")
    await end_with(world, {**WEAK, "quote": "I have a dog called Bello"}, summary="More of it.")

    assert first == []
    assert [m.content for m in await list_memories(world)] == [HAS_DOG["text"]]
    newer, older = await list_arcs(world)
    assert (len(newer.statements), len(older.statements)) == (0, 1)


PROMOTED = [
    # sure, weak, said, about, earlier → written
    (True, False, ["I have a dog called Bello"], "", [], True),
    (False, False, ["I have a dog called Bello"], "", [], False),
    (False, False, ["I have a dog called Bello", "Bello barks"], "", [], True),
    (False, False, ["I have a dog called Bello"], "All about Bello.", [], True),
    (False, False, ["I have a dog called Bello"], "A dog was called.", [], False),
    (False, False, ["I have a dog called Bello"], "", ["Bello was ill."], True),
    (False, True, ["I have a dog called Bello"], "All about Bello.", [], False),
    (False, True, ["I have a dog called Bello"], "", ["Bello was ill."], True),
    (False, True, ["I have a dog called Bello", "Bello barks"], "", [], True),
]


@pytest.mark.parametrize(("sure", "weak", "said", "about", "earlier", "written"), PROMOTED)
def test_a_statement_is_written_once_it_is_supported_c64(
    *, sure: bool, weak: bool, said: list[str], about: str, earlier: list[str], written: bool
) -> None:
    statement = Statement(
        text="User has a dog",
        use="fact",
        message_id=MessageId("m1"),
        said_at=NOW,
        quote="I have a dog called Bello",
        term="Bello",
        is_sure=sure,
        is_weak=weak,
    )

    assert is_promoted(statement, said=said, about=about, earlier=earlier) is written


async def test_a_rule_is_kept_once_it_was_said_twice_c61(world: ChatFixture) -> None:
    rule = {
        "text": "Answer in one sentence.",
        "use": "rule",
        "quote": "answer me in one sentence",
        "term": "one sentence",
        "kind": "lasting",
        "timing": "now",
    }
    await store_messages(world, "Please answer me in one sentence from now on", "Fine.")
    await end_with(world, {**rule, "message": 0})
    once = (await world.deps().stores.profiles.get(ADA)).rules
    await store_messages(
        world, "Again: answer me in one sentence", "Fine.", "One sentence, I said!", "Yes."
    )
    await end_with(world, {**rule, "message": 0})

    assert once == ()
    (kept,) = (await world.deps().stores.profiles.get(ADA)).rules
    assert (kept.text, kept.quote) == ("Answer in one sentence.", "answer me in one sentence")


async def test_a_newer_fact_takes_the_place_of_an_older_one_c63(world: ChatFixture) -> None:
    await store_memories(world, ADA, ["User lives in Bonn"])
    await store_messages(world, "I moved, and I live in Cologne since May.", "Nice.")
    moved = {
        **HAS_DOG,
        "text": "User lives in Cologne",
        "quote": "I live in Cologne",
        "replaces": 0,
    }

    await end_with(world, moved)

    assert [m.content for m in await list_memories(world)] == ["User lives in Cologne"]
    found = await world.deps().search.search_memories(ADA, "Bonn", limit=3)
    assert "User lives in Bonn" not in [m.content for m in found]


async def test_an_old_fact_near_to_what_was_said_is_known_again_c63(world: ChatFixture) -> None:
    newer = [f"User met friend {n}" for n in range(MAX_KNOWN)]
    await store_memories(world, ADA, ["User owns Bello, a dog", *newer])
    await store_messages(world, DOG, "Nice.")
    stretch = {**STRETCH, "statements": [HAS_DOG]}
    same = {"verdicts": [{"fact": 0, "repeats": 0}, {"fact": 7, "replaces": 0}]}

    with ScriptedModel(answers={"chat/stretch": [stretch], "comparison": [same]}) as model:
        await end(world, model)

    _, (_, prompt) = model.prompts
    assert prompt.data["facts"] == [{"number": 0, "text": HAS_DOG["text"]}]
    assert prompt.data["known"][0] == {"number": 0, "text": "User owns Bello, a dog"}
    of_chat = await world.deps().stores.memories.list_by_values(ADA, "session_id", [MAIN_SESSION])
    assert of_chat == []


async def test_a_fact_that_no_model_compared_is_kept_c67(world: ChatFixture) -> None:
    newer = [f"User met friend {n}" for n in range(MAX_KNOWN)]
    await store_memories(world, ADA, ["User owns Bello, a dog", *newer])
    await store_messages(world, DOG, "Nice.")
    stretch = {**STRETCH, "statements": [HAS_DOG]}
    away = ModelFailed("away")

    with ScriptedModel(answers={"chat/stretch": [stretch], "comparison": [away]}) as model:
        await end(world, model)

    [kept] = await world.deps().stores.memories.list_by_values(ADA, "session_id", [MAIN_SESSION])
    assert kept.content == HAS_DOG["text"]


async def test_a_crisis_is_no_memory_and_its_level_is_from_the_log_c60(world: ChatFixture) -> None:
    reading = {"danger": 0}
    with ScriptedModel(script_answer("Nice."), answers={"chat/reading": [reading]}) as model:
        deps = world.deps(model)
        await ask(deps, {"text": CERTAIN})
        world.clock.advance(seconds=60)
        await ask(deps, {"text": DOG})
    with script() as model:
        await end(world, model)

    ((_, prompt),) = model.prompts
    assert [m["text"] for m in prompt.data["messages"]] == [DOG, "Nice."]
    (arc,) = await list_arcs(world)
    assert (arc.crisis_level_max, arc.turn_count) == (3, 2)


async def say(world: ChatFixture, *texts: str, session_id: SessionId = MAIN_SESSION) -> None:
    """Send commands, after a moment."""
    with ScriptedModel() as model:
        for text in texts:
            world.clock.advance(seconds=5)
            await ask(world.deps(model), {"text": text}, chat_session_id=session_id)


async def test_what_was_said_before_a_forgetting_is_in_no_arc_c64(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.")
    await say(world, "/forget Bello")
    await store_messages(world, "Let us speak of something else entirely, please", "Yes.")

    with script() as model:
        await end(world, model)

    ((_, prompt),) = model.prompts
    assert "Bello" not in str(prompt.data)
    (arc,) = await list_arcs(world)
    assert arc.turn_count == 1


async def test_a_forgetting_that_is_not_confirmed_keeps_what_was_said_c64(
    world: ChatFixture,
) -> None:
    await store_memories(world, ADA, ["User has a dog called Bello"])
    await store_messages(world, f"Oh, {DOG}", "Nice.")
    await say(world, "/forget Bello", "no")

    await end_with(world)

    assert len(await list_arcs(world)) == 1


async def test_a_wipe_of_nothing_counts_for_what_is_still_to_be_read_c64(
    world: ChatFixture,
) -> None:
    await store_messages(world, DOG, "Nice.", session_id=WORK)
    until = (await load_session(world, WORK)).updated_at
    await say(world, "/wipe")

    await end_stretch(build_deps(world), ADA, WORK, until)

    assert await list_arcs(world) == []


@pytest.mark.parametrize("commands", [("/forget Bello",), ("/wipe", "delete everything")])
async def test_a_late_task_brings_back_nothing_that_was_forgotten_elsewhere_c64(
    world: ChatFixture, commands: tuple[str, ...]
) -> None:
    await store_memories(world, ADA, ["User has a cat"])
    await store_messages(world, DOG, "Nice.", session_id=WORK)
    until = (await load_session(world, WORK)).updated_at
    await say(world, *commands)

    await end_stretch(build_deps(world), ADA, WORK, until)

    assert await list_arcs(world) == []
    assert HAS_DOG["text"] not in [memory.content for memory in await list_memories(world)]


class ForgettingModel(EndlessScript):
    """Lets the owner forget all while it reads a stretch."""

    def __init__(self, world: ChatFixture) -> None:
        super().__init__()
        self._world = world

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        await say(self._world, "/wipe", "delete everything", session_id=WORK)
        return await super().complete_structured(role, prompt, schema)


async def test_what_is_forgotten_while_a_stretch_is_read_stays_forgotten_c64(
    world: ChatFixture,
) -> None:
    await store_memories(world, ADA, ["User has a cat"])
    await store_messages(world, "Hello.", "Hello.", session_id=WORK)
    await store_messages(world, DOG, "Nice.")

    await end(world, ForgettingModel(world))

    assert await list_arcs(world) == []
    assert await list_memories(world) == []


async def test_a_fact_that_was_deleted_meanwhile_is_not_written_again_c64(
    world: ChatFixture,
) -> None:
    await store_messages(world, DOG, "Nice.")
    until = (await load_session(world)).updated_at
    injector = FaultInjector(fail_at_call=0)
    for at in range(1, MAX_STEPS):
        injector = FaultInjector(fail_at_call=at)
        deps = build_deps(world, EndlessScript(), WatchedPort(world.documents, injector))
        try:
            await end_stretch(deps, ADA, MAIN_SESSION, until)
        except (Crash, Unavailable):
            if memories := await list_memories(world):
                break
    async with open_chat(world.deps()) as http:
        assert (await http.get("/v2/arcs")).status_code == 200
    await delete_memory(world.deps().stores.memories, world.deps().index, ADA, memories[0].id)

    await end_stretch(build_deps(world, EndlessScript()), ADA, MAIN_SESSION, until)

    assert await list_memories(world) == []


async def test_a_crisis_of_a_later_stretch_is_in_no_earlier_arc_c60(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.")
    until = (await load_session(world)).updated_at
    world.clock.advance(seconds=SILENCE.total_seconds())
    with ScriptedModel() as model:
        await ask(world.deps(model), {"text": CERTAIN})

    with script() as model:
        await end_stretch(build_deps(world, model), ADA, MAIN_SESSION, until)

    (arc,) = await list_arcs(world)
    assert arc.crisis_level_max == 0


async def test_a_persona_is_play_c60(world: ChatFixture) -> None:
    app = build_app(world, persona_prompt="You are a poet.")
    await world.deps().stores.apps.create(app)
    with ScriptedModel(script_answer("Roses.")) as model:
        await ask(world.deps(model), {"text": DOG}, app_id=app.id)

    await end(world, session_id=SessionId(AppId(app.id)))

    assert await list_arcs(world) == []


async def test_a_model_that_fails_leaves_nothing_c60(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.")
    with ScriptedModel(answers={"chat/stretch": [ModelFailed("refused")]}) as model:
        await end(world, model)

    assert await list_arcs(world) == []


async def test_the_offline_model_quotes_what_was_said_m122(world: ChatFixture) -> None:
    await store_messages(
        world, "I live in Cologne. My sister Ann lives in Bonn with two cats.", "Nice."
    )

    await end(world, OfflineModel())

    (arc,) = await list_arcs(world)
    assert "Cologne" in arc.summary
    assert "User lives in Cologne" in [m.content for m in await list_memories(world)]


async def test_a_deleted_chat_takes_its_arcs_and_facts_along_c60(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.", session_id=WORK)
    with script(HAS_DOG) as model:
        await end(world, model, WORK)
    until = (await load_session(world, WORK)).updated_at

    await delete_chat(world.deps(), ADA, WORK)
    await end_stretch(build_deps(world), ADA, WORK, until)

    assert await list_arcs(world) == []
    assert await list_memories(world) == []
    assert await world.deps().search.search_memories(ADA, "Bello", limit=3) == []


async def test_a_deleted_chat_takes_more_facts_along_than_a_page_holds_c60(
    world: ChatFixture,
) -> None:
    await store_messages(world, DOG, "Nice.", session_id=WORK)
    await store_memories(world, ADA, [f"I have {n} dogs" for n in range(201)], session_id=WORK)

    await delete_chat(world.deps(), ADA, WORK)

    assert await list_memories(world) == []


async def test_arcs_are_listed_and_forgotten_for_good_c60(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.")
    await end_with(world)
    async with open_chat(world.deps(), EVE) as http:
        foreign = (await http.get("/v2/arcs")).json()
    async with open_chat(world.deps()) as http:
        (arc,) = (await http.get("/v2/arcs")).json()["items"]
        deleted = await http.delete(f"/v2/arcs/{arc['id']}")
        again = await http.delete(f"/v2/arcs/{arc['id']}")

    assert foreign == {"items": [], "next": None}
    assert arc["summary"] == STRETCH["summary"]
    assert (deleted.status_code, again.status_code) == (200, 404)
    await end_with(world)
    assert await list_arcs(world) == []


async def test_the_owner_ends_a_stretch_by_hand_c65(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.")
    async with open_chat(world.deps()) as http:
        ended = [(await http.post("/v2/chat-sessions/main/end")).status_code for _ in "12"]
        unknown = (await http.post("/v2/chat-sessions/c9/end")).status_code

    (task,) = world.tasks.list_by_target("end_stretch")
    assert (ended, unknown, task.at) == ([200, 200], 404, None)
    with script(HAS_DOG) as model:
        body = task.body
        until = (await load_session(world)).updated_at
        assert body["until"] == until.isoformat()
        await end_stretch(build_deps(world, model), ADA, MAIN_SESSION, until)
    assert len(await list_arcs(world)) == 1


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
async def test_a_stretch_that_is_cut_at_any_call_ends_once_c60(*, after_effect: bool) -> None:
    for at in range(1, MAX_STEPS):
        world = build_chat_fixture(MemoryDatabase())
        await store_memories(world, ADA, ["User has a cat"])
        await store_messages(world, DOG, "Nice.")
        until = (await load_session(world)).updated_at
        injector = FaultInjector(fail_at_call=at, fails_after_effect=after_effect)
        deps = build_deps(world, EndlessScript(), WatchedPort(world.documents, injector))
        watched_index = LibraryIndex(WatchedPort(world.vectors, injector))
        for _ in range(3):
            try:
                await end_stretch(replace(deps, index=watched_index), ADA, MAIN_SESSION, until)
            except (Crash, Unavailable):
                injector.is_down = False
        contents = sorted(memory.content for memory in await list_memories(world))
        assert contents == ["User has a cat", "User has a dog called Bello"], f"cut at call {at}"
        (arc,) = await list_arcs(world)
        assert (arc.is_settled, arc.statements) == (True, ())
        found = await world.deps().search.search_memories(ADA, "Bello", limit=1)
        assert [memory.content for memory in found] == ["User has a dog called Bello"]
        if not injector.failure_count:
            break

    assert 5 < at < MAX_STEPS


async def test_what_an_app_posts_hides_no_silence_c65(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.")
    until = (await load_session(world)).updated_at
    for message in await store_messages(world, "It rains."):
        await world.deps().stores.messages.change(ADA, message.id, from_integration=True)
    with script() as model:
        await end_stretch(build_deps(world, model), ADA, MAIN_SESSION, until)

    (arc,) = await list_arcs(world)
    assert arc.created_at == until


async def test_a_stretch_that_was_ended_by_hand_is_in_no_later_arc_c65(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.")
    until = (await load_session(world)).updated_at
    with script() as model:
        await end_stretch(build_deps(world, model), ADA, MAIN_SESSION, until)
    await store_messages(world, "Let us speak of something else entirely, please", "Yes.")
    with script(summary="Something else.") as model:
        await end(world, model)

    later, earlier = await list_arcs(world)
    assert (later.turn_count, earlier.turn_count) == (1, 1)
    assert later.started_at > earlier.created_at
    ((_, prompt),) = model.prompts
    assert DOG not in [message["text"] for message in prompt.data["messages"]]


async def test_a_chat_whose_app_is_gone_may_have_been_play_c60(world: ChatFixture) -> None:
    app = build_app(world, persona_prompt="You are a poet.")
    await world.deps().stores.apps.create(app)
    with ScriptedModel(script_answer("Roses.")) as model:
        await ask(world.deps(model), {"text": DOG}, app_id=app.id)
    await world.documents.delete_tree(f"apps/{app.id}")

    await end(world, session_id=SessionId(app.id))

    assert await list_arcs(world) == []


async def test_who_moves_away_and_back_lives_where_they_said_last_c63(world: ChatFixture) -> None:
    for place in ("Cologne", "Porto", "Cologne"):
        said = f"By the way, since this week I live in {place}"
        home = {**HAS_DOG, "text": f"User lives in {place}", "quote": said, "term": place}
        await store_messages(world, said, "Nice.")
        await end_with(world, home)

    assert [memory.content for memory in await list_memories(world)] == ["User lives in Cologne"]


async def test_what_a_recording_said_weakly_counts_as_said_before_c62(world: ChatFixture) -> None:
    await store_memories(world, ADA, ["User is no good at maths"])
    memories = world.deps().stores.memories
    held = (await memories.list_newest(ADA, limit=1))[0].hold(NOW + timedelta(days=90))
    await memories.change(ADA, held.id, valid_to=held.valid_to, held_until=held.held_until)
    said = "I tell you once more: I am hopeless at maths, whatever I try"
    await store_messages(world, said, "Nobody is.")
    doubt = {
        **HAS_DOG,
        "text": "User is hopeless at maths",
        "quote": said,
        "term": "maths",
        "kind": "self_doubt",
    }

    await end_with(world, doubt)

    assert [memory.content for memory in await list_memories(world)] == [doubt["text"]]


async def test_a_fact_that_a_recording_repeats_outlives_its_chat_c60(world: ChatFixture) -> None:
    await store_messages(world, DOG, "Nice.", session_id=WORK)
    with script(HAS_DOG) as model:
        await end(world, model, WORK)
    (fact,) = await list_memories(world)
    repeating = (ConversationId("talk"), ConversationId("call"))
    await world.deps().stores.memories.change(ADA, fact.id, seen_in=repeating)

    await delete_chat(world.deps(), ADA, WORK)

    (kept,) = await list_memories(world)
    assert (kept.content, kept.conversation_id, kept.seen_in) == (fact.content, "talk", ("call",))
    assert (kept.session_id, kept.message_id, kept.evidence) == (None, None, "")
    assert await world.deps().search.search_memories(ADA, "Bello", limit=3) == [kept]


async def test_what_the_owner_ends_ends_there_though_they_write_again_c65(
    world: ChatFixture,
) -> None:
    await store_messages(world, DOG, "Nice.")
    async with open_chat(world.deps()) as http:
        await http.post("/v2/chat-sessions/main/end")
    (task,) = world.tasks.list_by_target("end_stretch")
    await store_messages(world, "Let us speak of something else entirely, please", "Yes.")
    headers = await build_service_headers("end_stretch")
    with script(HAS_DOG) as model:
        async with open_client("end_stretch", STRETCH_ROUTES, build_deps(world, model)) as http:
            ended = await http.post("/", json=dict(task.body), headers=headers)

    (arc,) = await list_arcs(world)
    assert (ended.status_code, arc.turn_count) == (204, 1)
    assert arc.created_at.isoformat() == task.body["until"]
