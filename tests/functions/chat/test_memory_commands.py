"""Commands about what is remembered: shown, explained, written and forgotten without a model (C49, C50, C52)."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.commands.command import read_command
from functions.chat.deps import ChatDeps
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.domain.chats.arc import Arc, Statement
from shared.domain.chats.chat import Message, build_session
from shared.domain.chats.chat_notes import ChatNotes
from shared.domain.ids import ArcId, MemoryId, MessageId, SessionId
from shared.domain.memories.memory import HOLD_TIME
from tests.fakes import FixedClock, ScriptedModel, script_answer
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.library import build_conversation, store_conversations, store_memories
from tests.functions.chat.test_crisis_gate import CERTAIN
from tests.functions.chat.test_message_routes import ask, open_chat
from tests.old_app import parse_as_fixed_app

FACTS = ["User has a dog called Bello", "User's sister Ann lives in Bonn", "Ann likes tea"]
NOW = FixedClock().now()


@pytest.fixture
def deps(world: ChatFixture) -> Iterator[ChatDeps]:
    """A chat whose model may not be asked."""
    with ScriptedModel() as model:
        yield world.deps(model)


async def say(deps: ChatDeps, *texts: str) -> list[str]:
    """Send messages one after the other, and return what the old app shows."""
    shown = []
    for text in texts:
        deps.clock.advance(seconds=5)  # type: ignore[attr-defined]
        _, screen = await ask(deps, {"text": text})
        shown.append(screen.text)
    return shown


async def list_facts(world: ChatFixture) -> list[str]:
    return [m.content for m in await world.deps().stores.memories.list_newest(ADA, limit=99)]


async def find_facts(world: ChatFixture, words: str) -> list[str]:
    return [m.content for m in await world.deps().search.search_memories(ADA, words, limit=9)]


async def list_answers(world: ChatFixture) -> list[dict[str, Any]]:
    """Return the answers, newest first."""
    async with open_chat(world.deps()) as http:
        return [m for m in (await http.get("/v2/messages")).json() if m["sender"] == "ai"]


async def test_what_is_remembered_is_numbered_c49(world: ChatFixture, deps: ChatDeps) -> None:
    await store_memories(world, ADA, FACTS)
    await store_memories(world, EVE, ["User is Eve"])

    everything, about_ann = await say(deps, "/memories", "/memories Ann")

    assert everything.splitlines() == [
        "This is remembered about you:",
        "",
        "1. Ann likes tea",
        "2. Your sister Ann lives in Bonn",
        "3. You have a dog called Bello",
    ]
    assert "Bello" not in about_ann
    assert "2. " in about_ann
    answer = (await list_answers(world))[0]
    assert answer["metadata"]["outcome"] == "completed"


async def test_a_long_list_is_cut_and_says_so_c49(world: ChatFixture, deps: ChatDeps) -> None:
    await store_memories(world, ADA, [f"User owns boat {n}" for n in range(30)])

    (text,) = await say(deps, "/memories")

    assert text.startswith("These are the newest")
    assert text.endswith("20. You own boat 10")


async def test_what_lacks_something_says_what_there_is_c49(
    deps: ChatDeps,
) -> None:
    empty, wipe, commands, no_fact, no_words, no_setting, why, forget = await say(
        deps,
        *("/memories", "/wipe", "/commands", "/remember", "/forget", "/recall maybe"),
        *("/why 1", "/forget 1"),
    )

    assert empty == wipe == "Nothing is remembered about you yet."
    assert commands == no_fact == no_words == no_setting
    assert "/forget 1" in commands
    assert "no such number" in why
    assert forget == "Nothing that is remembered fits this."


async def test_why_tells_the_words_and_cites_the_place_c49(
    world: ChatFixture, deps: ChatDeps
) -> None:
    conversation = build_conversation(1, "We spoke about topic1.")
    await store_conversations(world, ADA, conversation)
    await store_memories(world, ADA, ["User fears topic1"])
    await world.deps().stores.memories.change(
        ADA,
        MemoryId("m000"),
        updated_at=NOW,
        conversation_id=conversation.id,
        evidence="brr, topic1",
    )

    _, _, fear, tea, both, none = await say(
        deps, "/remember I like tea", "/memories", "/why 2", "/why 1", "/why 1 2", "/why 3"
    )

    assert fear.startswith("You fear topic1\n\nIt was said on Thursday 1 January 2026")
    assert "“brr, topic1”" in fear
    assert "You wrote it down on " in tea
    assert (
        both
        == none
        == "There is no such number in the list. Write /memories to see it, then /why 1."
    )
    answer = next(a for a in await list_answers(world) if "You fear" in a["text"])
    assert [card["id"] for card in answer["memories"]] == [conversation.id]


async def test_what_waits_to_be_said_again_is_forgotten_too_c50(
    world: ChatFixture, deps: ChatDeps
) -> None:
    await store_memories(world, ADA, ["User feels dull beside Ann"])
    memories = world.deps().stores.memories
    held = (await memories.get(ADA, "m000")).hold(NOW + HOLD_TIME)
    await memories.change(ADA, held.id, valid_to=held.valid_to, held_until=held.held_until)

    everything, sure, done = await say(deps, "/memories", "/forget Ann", "yes")

    assert everything == "Nothing is remembered about you yet."
    assert "You feel dull beside Ann" in sure
    assert done.startswith("This is forgotten:")
    assert await memories.list_all(ADA, limit=9) == []


async def test_one_of_two_is_forgotten_exactly_c50(world: ChatFixture, deps: ChatDeps) -> None:
    await store_memories(world, ADA, FACTS)

    which, sure, done = await say(deps, "/forget Ann", "2", "yes")

    chosen = which.splitlines()[-1].removeprefix("2. ")
    kept = which.splitlines()[-2].removeprefix("1. ")
    assert chosen in sure
    assert kept not in sure
    assert sure.endswith("Reply yes or no.")
    assert done.splitlines() == ["This is forgotten:", "", f"1. {chosen}"]
    left = [m.said_to_owner for m in await world.deps().stores.memories.list_newest(ADA, limit=9)]
    assert sorted(left) == sorted([kept, "You have a dog called Bello"])
    assert [f for f in await find_facts(world, "Ann") if "Ann" in f] != []
    assert len([f for f in await find_facts(world, "Ann") if "Ann" in f]) == 1


@pytest.mark.parametrize("others", [["no"], ["/memories"], ["What else?"], ["7"]])
async def test_only_the_next_message_forgets_c50(world: ChatFixture, others: list[str]) -> None:
    await store_memories(world, ADA, FACTS)
    answers = [script_answer("Well.")] * sum(text not in ("no", "/memories") for text in others)
    with ScriptedModel(*answers, script_answer("Yes what?")) as model:
        await say(world.deps(model), "/forget Bello", *others, "yes")

    assert sorted(await list_facts(world)) == sorted(FACTS)


async def test_a_question_and_a_choice_end_after_ten_minutes_c50(world: ChatFixture) -> None:
    await store_memories(world, ADA, FACTS)
    with ScriptedModel(script_answer("What?"), script_answer("What?")) as model:
        deps = world.deps(model)
        await say(deps, "/forget Bello")
        world.clock.advance(seconds=601)
        await say(deps, "yes", "/forget Ann")
        world.clock.advance(seconds=601)
        await say(deps, "1")

    assert sorted(await list_facts(world)) == sorted(FACTS)


async def test_all_that_is_listed_is_forgotten_at_once_c50(
    world: ChatFixture, deps: ChatDeps
) -> None:
    await store_memories(world, ADA, FACTS)

    await say(deps, "/forget Ann", "0", "yes")

    assert await list_facts(world) == [FACTS[0]]


async def test_a_yes_that_comes_twice_forgets_once_c50(world: ChatFixture, deps: ChatDeps) -> None:
    await store_memories(world, ADA, FACTS)
    await say(deps, "/forget Bello")

    turns = [await prepare_turn(deps, ADA, Question("yes")) for _ in range(2)]

    assert [turn.command is not None for turn in turns] == [True, False]


async def test_everything_is_deleted_by_typed_words_alone_c52(world: ChatFixture) -> None:
    await store_memories(world, ADA, FACTS)
    with ScriptedModel(script_answer("What?")) as model:
        deps = world.deps(model)
        asked, again = await say(deps, "/wipe", "yes")
        kept = await list_facts(world)
        _, wiped, _ = await say(deps, "/wipe", "Delete everything!", "delete everything")

    assert asked.endswith("write: delete everything")
    assert again == asked
    assert sorted(kept) == sorted(FACTS)
    assert wiped == "All that was remembered about you is deleted."
    assert await list_facts(world) == await find_facts(world, "Ann") == []


async def note_chats(world: ChatFixture, **notes: str) -> None:
    """Store chats whose title, tags, suggestions and summary say something."""
    for name, words in notes.items():
        session = build_session(SessionId(name), app_id=None, now=NOW, title=f"About {words}")
        noted = ChatNotes(
            summary=f"They asked about {words}.",
            tags=(words,),
            new_chats=(f"Plan {words} please",),
            noted_until=(NOW, MessageId("a")),
        )
        position = (NOW, MessageId("a"))
        await world.deps().stores.sessions.add(
            ADA, replace(session, notes=noted, summary=f"On {words}.", summarised_until=position)
        )


async def read_derived(world: ChatFixture, name: str) -> str:
    session = await world.deps().stores.sessions.get(ADA, SessionId(name))
    assert session is not None
    return session.derived_text.strip()


@pytest.mark.parametrize("with_facts", [True, False])
async def test_a_wipe_takes_what_chats_show_of_it_c52(
    world: ChatFixture, deps: ChatDeps, *, with_facts: bool
) -> None:
    await note_chats(world, **{f"c{n}": "inhalers" for n in range(60)})
    await store_memories(world, ADA, FACTS if with_facts else [])

    _, wiped = await say(deps, "/wipe", "delete everything")

    assert wiped == "All that was remembered about you is deleted."
    assert {await read_derived(world, f"c{n}") for n in range(60)} == {""}


async def test_forgetting_takes_what_chats_show_of_it_and_leaves_other_chats_c50(
    world: ChatFixture, deps: ChatDeps
) -> None:
    await note_chats(world, asthma="inhalers", boat="sailing")
    await store_memories(world, ADA, ["User uses an inhaler", "User likes soup"])

    _, forgotten = await say(deps, "/forget inhaler", "yes")

    assert forgotten.startswith("This is forgotten:")
    assert await read_derived(world, "asthma") == ""
    assert (await read_derived(world, "boat")).startswith("About sailing")


async def test_what_only_chats_show_is_forgotten_as_well_c50(
    world: ChatFixture, deps: ChatDeps
) -> None:
    await note_chats(world, asthma="inhalers", boat="sailing")

    [said] = await say(deps, "/forget inhalers")

    assert said == "Nothing that is remembered fits this."
    assert await read_derived(world, "asthma") == ""
    assert await read_derived(world, "boat") != ""


async def test_a_wipe_is_typed_in_the_owners_language_and_may_be_refused_c52(
    world: ChatFixture, deps: ChatDeps
) -> None:
    await deps.stores.profiles.change(ADA, language="de")
    await store_memories(world, ADA, FACTS)

    _, refused, _, wiped = await say(deps, "/wipe", "nein", "/wipe", "alles löschen")

    assert refused == "Es wurde nichts vergessen."
    assert wiped == "Alles, was über dich gemerkt war, ist gelöscht."
    assert await list_facts(world) == []


@pytest.mark.parametrize(
    ("accepted", "chosen", "expected"),
    [
        ("de-DE,de;q=0.9,en;q=0.8", None, "Über dich ist noch nichts gemerkt."),
        ("tlh, fr;q=0.7", None, "Rien n'est encore retenu sur toi."),
        ("de", "en", "Nothing is remembered about you yet."),
        ("tlh", None, "Nothing is remembered about you yet."),
    ],
)
async def test_a_command_answers_in_the_clients_language_unless_one_was_chosen_c49(
    deps: ChatDeps, accepted: str, chosen: str | None, expected: str
) -> None:
    await deps.stores.profiles.change(ADA, language=chosen)
    async with open_chat(deps) as http:
        headers = {"Accept-Language": accepted}
        answer = await http.post("/v2/messages", json={"text": "/memories"}, headers=headers)

    assert parse_as_fixed_app([answer.content]).text == expected


async def test_no_model_is_named_that_wrote_nothing_c49(world: ChatFixture, deps: ChatDeps) -> None:
    await say(deps, "/memories", CERTAIN)

    assert ["model" in answer["metadata"] for answer in await list_answers(world)] == [False, False]


async def test_a_wipe_leaves_the_crisis_log_as_it_is_c74(world: ChatFixture) -> None:
    since = world.clock.now()
    await store_memories(world, ADA, FACTS)
    clear = {"danger": 0}
    with ScriptedModel(answers={"chat/reading": [clear]}) as model:
        deps = world.deps(model)
        await say(deps, CERTAIN, "/wipe", "delete everything")

    level = await deps.crisis_log.find_highest_level(
        ADA, SessionId("main"), since=since, before=world.clock.now()
    )
    assert level == 3
    assert await list_facts(world) == []


async def test_a_cry_for_help_is_no_command_c49(world: ChatFixture, deps: ChatDeps) -> None:
    await say(deps, f"/remember {CERTAIN}")

    (answer, *_) = await deps.stores.messages.list_newest(ADA, SessionId("main"), limit=1)
    assert (answer.route, answer.crisis_level) == ("crisis", 3)
    assert await list_facts(world) == []


async def test_a_fact_is_written_once_and_can_be_undone_c49(
    world: ChatFixture, deps: ChatDeps
) -> None:
    first, second = await say(deps, "/remember I like tea", "/remember I like tea")

    assert (first, second) == (
        "Remembered: “I like tea”\n\nReply undo.",
        "This is remembered already: “I like tea”",
    )
    (change,) = (await list_answers(world))[1]["metadata"]["changes"]
    assert change["text"] == "Remembered “I like tea”"


async def test_recall_is_paused_and_resumed_c51(deps: ChatDeps) -> None:
    shown = []
    for setting in ("off", "on"):
        await say(deps, f"/recall {setting}")
        shown.append((await deps.stores.profiles.get(ADA)).recalls_memories)

    assert shown == [False, True]


async def test_rules_are_listed_explained_and_forgotten_too_c49(
    world: ChatFixture, deps: ChatDeps
) -> None:
    none, added, long = await say(deps, "/rules", "/rule Be  brief.", f"/rule {'very ' * 30}")
    await store_memories(world, ADA, FACTS[:1])

    both, why, sure, done, left = await say(
        deps, "/memories", "/why 2", "/forget 2", "yes", "/rules"
    )

    assert none == left == "You have no rules. Write one: /rule Answer in one sentence."
    assert added == "Your rules for every answer:\n\n1. Be brief."
    assert long == "A rule has at most 24 words and 280 characters."
    assert both.endswith(
        "1. You have a dog called Bello\n\nYour rules for every answer:\n\n2. Be brief."
    )
    assert why.startswith("Be brief.\n\nYou wrote it down on ")
    assert "1. Be brief." in sure
    assert done == "This is forgotten:\n\n1. Be brief."
    assert await list_facts(world) == FACTS[:1]


async def test_a_wipe_takes_the_rules_and_leaves_recall_as_it_is_c52(
    world: ChatFixture, deps: ChatDeps
) -> None:
    await store_memories(world, ADA, FACTS)
    await say(deps, "/recall off", "/rule Be brief.", "/wipe", "delete everything")

    profile = await deps.stores.profiles.get(ADA)
    assert (profile.rules, profile.recalls_memories) == ((), False)


async def test_an_incognito_chat_reads_and_changes_nothing_c68(
    world: ChatFixture, deps: ChatDeps
) -> None:
    await store_memories(world, ADA, FACTS)
    async with open_chat(deps) as http:
        chat = {"storage_mode": "incognito"}
        chat_id = (await http.post("/v2/chat-sessions", json=chat)).json()["id"]

    texts = []
    for text in ("/memories", "/incognito", "/forget 1", "/wipe", "/remember x", "/recall off"):
        _, screen = await ask(deps, {"text": text}, chat_session_id=chat_id)
        texts.append(screen.text)

    assert "Bello" in texts[0]
    assert texts[1].startswith("A chat is incognito from its first message on")
    assert set(texts[2:]) == {
        "This chat is private, so that nothing can be changed from here. Use another chat."
    }
    assert (await deps.stores.profiles.get(ADA)).recalls_memories
    assert len(await list_facts(world)) == 3


def build_list(count: int) -> Message:
    return Message(
        id=MessageId("m1"),
        session_id=SessionId("main"),
        text="Which?",
        sender="ai",
        created_at=NOW,
        metadata={"listed": {"items": [f"memory/{n}" for n in range(count)], "is_choice": True}},
    )


@given(st.text(max_size=30))
def test_text_that_is_no_command_is_for_the_model_c49(text: str) -> None:
    command = read_command(text, [], None, now=NOW)

    assert command is None or text.startswith("/")


@given(st.integers(1, 20), st.lists(st.integers(0, 30), min_size=1, max_size=5))
def test_numbers_choose_what_the_list_shows_or_nothing_c50(count: int, numbers: list[int]) -> None:
    command = read_command(" ".join(map(str, numbers)), [build_list(count)], None, now=NOW)

    assert command is not None
    expected = {f"memory/{n - 1}" for n in numbers}
    if numbers == [0]:
        assert len(command.pick()) == count
    elif all(1 <= n <= count for n in numbers):
        assert set(command.pick()) == expected
    else:
        assert command.pick() == ()


def test_a_path_is_no_command_c49() -> None:
    for text in ("/etc/passwd says what?", "/", "/nothing", "memories", "a /memories", "/Memories"):
        assert read_command(text, [], None, now=NOW) is None


async def test_arcs_about_somebody_are_forgotten_with_them_c50(
    world: ChatFixture, deps: ChatDeps
) -> None:
    await store_memories(world, ADA, FACTS)
    arcs = world.deps().stores.arcs
    waiting = Statement(
        text="User envies Ann",
        use="fact",
        message_id=MessageId("m1"),
        said_at=NOW,
        quote="I envy Ann",
        is_weak=True,
    )
    texts: dict[str, Any] = {
        "a1": {"summary": "A visit to Ann was planned."},
        "a2": {"summary": "A quarrel.", "statements": (waiting,)},
        "a3": {"summary": "Soup was cooked."},
    }
    for name, fields in texts.items():
        arc = Arc(
            id=ArcId(name), session_id=SessionId("main"), started_at=NOW, created_at=NOW,
            turn_count=1, **fields,
        )  # fmt: skip
        await arcs.add(ADA, arc)

    which, sure, done = await say(deps, "/forget Ann", "0", "yes")

    assert "A visit to Ann was planned." in which
    assert "A quarrel." in sure
    assert "Soup" not in which + sure + done
    assert [arc.id for arc in await arcs.list_newest(ADA, limit=9)] == ["a3"]
    assert await list_facts(world) == ["User has a dog called Bello"]


async def test_what_a_forgotten_memory_corrected_does_not_come_back_c50(
    world: ChatFixture, deps: ChatDeps
) -> None:
    await store_memories(world, ADA, ["Ann lives in Ulm", "Ann lives in Bonn", "Ann lives in Kiel"])
    memories = deps.stores.memories
    for old, new in (("m000", "m001"), ("m001", "m002")):
        await memories.change(ADA, MemoryId(old), valid_to=NOW, superseded_by=MemoryId(new))

    await say(deps, "/forget Ann", "yes")

    assert await memories.list_all(ADA, limit=9) == []
    assert await find_facts(world, "Ann") == []


async def test_a_forgetting_that_was_interrupted_is_completed_by_another_c50(
    world: ChatFixture, deps: ChatDeps
) -> None:
    await store_memories(world, ADA, FACTS)
    await deps.index.remove_memories(ADA, [MemoryId("m000")])

    _, done = await say(deps, "/forget Bello", "yes")

    assert done.startswith("This is forgotten:")
    assert sorted(await list_facts(world)) == sorted(FACTS[1:])


async def test_more_than_a_list_holds_is_forgotten_in_several_rounds_c50(
    world: ChatFixture, deps: ChatDeps
) -> None:
    await store_memories(world, ADA, [f"User paints boat {n}" for n in range(70)])

    first, _, _, second, _, _ = await say(deps, *["/forget boat", "0", "yes"] * 2)

    assert "There may be more." in first
    assert "There may be more" not in second
    assert await list_facts(world) == []


async def test_five_thousand_memories_are_wiped_within_the_limits_of_a_write_c52(
    world: ChatFixture, deps: ChatDeps
) -> None:
    await store_memories(world, ADA, [f"User paints boat {n}" for n in range(5_000)])

    _, wiped = await say(deps, "/wipe", "delete everything")

    assert wiped == "All that was remembered about you is deleted."
    assert await list_facts(world) == await find_facts(world, "boat") == []
