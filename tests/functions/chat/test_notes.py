"""Notes after a turn: one call names, summarises and tags a chat and suggests how to go on (M99, M118–M120)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from functions.chat.notes.build_notes import MAX_TITLE_CHARS
from functions.chat.sessions import chat_sessions
from functions.chat.turn.after_turn import after_turn
from shared.domain.chats.chat import MAIN_SESSION, Message
from shared.domain.chats.chat_notes import AnswerNotes, SuggestedAction
from shared.domain.chats.storage_mode import StorageMode
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import MemoryId, MessageId, SessionId
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.chats import (
    WORK,
    build_after_turn_deps,
    load_session,
    script_notes,
    store_messages,
)
from tests.functions.chat.library import store_memories
from tests.functions.chat.test_turn import ask, require_end
from tests.functions.chat.test_versions import open_chat

CANARY = "Zanzibarcode"
FOLLOW_UPS = [
    "Show me who comes along",
    "Add the offsite to my calendar",
    "Find a hotel near the river",
    "Compare the trains to Lisbon",
    "List what Ann still has to book",
    "Remind me a day before it",
]
NEW_CHATS = [f"Plan the weekend number {n}" for n in range(1, 7)]
OUTPUT: Mapping[str, Any] = {
    "title": "Lisbon offsite",
    "icons": ["map-pin", "calendar"],
    "language": "en",
    "category": "travel",
    "summary": "The user asked when the offsite is. It is on Friday.",
    "tags": ["Lisbon", "Offsite"],
    "follow_ups": FOLLOW_UPS,
    "new_chats": NEW_CHATS,
    "harmful_response": 0.5,
}


async def note(
    world: ChatFixture,
    answer: Message | MessageId,
    *outputs: object,
    session_id: SessionId = MAIN_SESSION,
) -> ScriptedModel:
    """Do the work after the turn of an answer; return the model that was asked."""
    answer_id = answer.id if isinstance(answer, Message) else answer
    with ScriptedModel(answers=script_notes(*outputs)) as model:
        await after_turn(build_after_turn_deps(world, model), ADA, session_id, answer_id)
    return model


async def load_answer(world: ChatFixture, answer: Message | MessageId) -> Message:
    answer_id = answer.id if isinstance(answer, Message) else answer
    return await world.deps().stores.messages.get(ADA, answer_id)


@pytest.mark.parametrize("session_id", [MAIN_SESSION, WORK])
async def test_an_answer_and_its_chat_are_noted_by_one_call_m99(
    world: ChatFixture, session_id: SessionId
) -> None:
    question, answer = await store_messages(
        world, "When is the offsite?", "On Friday.", session_id=session_id
    )

    model = await note(world, answer, OUTPUT, session_id=session_id)

    session, noted = await load_session(world, session_id), await load_answer(world, answer)
    assert (session.title, session.notes.icons) == ("Lisbon offsite", ("map-pin", "calendar"))
    assert (session.notes.summary, session.notes.tags) == (OUTPUT["summary"], ("Lisbon", "Offsite"))
    assert (session.notes.category, session.notes.language) == ("travel", "en")
    assert session.notes.new_chats == tuple(NEW_CHATS)
    assert noted.notes == AnswerNotes(follow_ups=tuple(FOLLOW_UPS))
    assert noted.harm == 0.5
    ((role, prompt),) = model.prompts
    assert (role, prompt.data["question"], prompt.data["answer"]) == (
        "fast",
        question.text,
        answer.text,
    )


async def test_a_repeated_event_asks_no_model_again_m130(world: ChatFixture) -> None:
    _, answer = await store_messages(world, "When is the offsite?", "On Friday.")
    await note(world, answer, OUTPUT)
    session = await load_session(world)

    await note(world, answer)

    assert await load_session(world) == session


async def test_a_chat_with_a_title_is_not_asked_for_another_m99(world: ChatFixture) -> None:
    _, first, _, second = await store_messages(world, "When?", "Friday.", "Where?", "Lisbon.")
    first_model = await note(world, first, OUTPUT)
    model = await note(world, second, {**OUTPUT, "title": "Another", "icons": ["house"]})

    session = await load_session(world)
    assert (session.title, session.notes.icons) == ("Lisbon offsite", ("map-pin", "calendar"))
    assert "`title`" in first_model.prompts[0][1].instructions
    assert "`title`" not in model.prompts[0][1].instructions


async def test_notes_are_progressive_m119(world: ChatFixture) -> None:
    _, first, _, second = await store_messages(world, "When?", "Friday.", "Where?", "Lisbon.")
    await note(world, first, OUTPUT)
    model = await note(
        world, second, {"summary": "The user plans an offsite.", "tags": ["Trains", "lisbon"]}
    )

    data = model.prompts[0][1].data
    assert (data["summary"], data["tags"]) == (OUTPUT["summary"], ("Lisbon", "Offsite"))
    notes = (await load_session(world)).notes
    assert (notes.summary, notes.tags) == (
        "The user plans an offsite.",
        ("Trains", "lisbon", "Offsite"),
    )


async def test_an_older_answer_does_not_overwrite_what_was_noted_since_m130(
    world: ChatFixture,
) -> None:
    _, first, _, second = await store_messages(world, "When?", "Friday.", "Where?", "Lisbon.")
    await note(world, second, OUTPUT)
    await note(world, first, {"summary": "An older summary.", "follow_ups": FOLLOW_UPS[:1]})

    assert (await load_session(world)).notes.summary == OUTPUT["summary"]
    assert (await load_answer(world, first)).notes == AnswerNotes(follow_ups=(FOLLOW_UPS[0],))


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (' "Lisbon\u202e offsite" ', "Lisbon offsite"),
        ("one two three four five six seven eight nine ten eleven",
         "one two three four five six seven eight nine ten"),
        ("x" * 500, "x" * MAX_TITLE_CHARS),
        (" ", "When is the offsite?"),
        (7, "When is the offsite?"),
    ],
)  # fmt: skip
async def test_a_title_keeps_its_limits_whatever_the_model_says_p16(
    world: ChatFixture, title: object, expected: str
) -> None:
    _, answer = await store_messages(world, "When is the offsite?", "On Friday.")

    await note(world, answer, {"title": title})

    assert (await load_session(world)).title == expected


async def test_where_the_model_fails_there_are_no_notes_but_a_title_m118(
    world: ChatFixture,
) -> None:
    _, answer = await store_messages(world, "When is the offsite?", "On Friday.")

    await note(world, answer, ModelFailed("refused"))

    noted = await load_answer(world, answer)
    assert (noted.notes, noted.harm) == (AnswerNotes(), None)
    assert (await load_session(world)).title == "When is the offsite?"


async def test_a_model_that_is_down_lets_the_event_be_redelivered_m130(world: ChatFixture) -> None:
    _, answer = await store_messages(world, "When is the offsite?", "On Friday.")

    with pytest.raises(Unavailable):
        await note(world, answer, Unavailable("down"))
    await note(world, answer, OUTPUT)

    assert (await load_session(world)).title == "Lisbon offsite"


async def test_a_title_that_the_owner_sets_meanwhile_is_kept_and_so_are_the_notes_m99(
    world: ChatFixture,
) -> None:
    class RenamingModel(ScriptedModel):
        async def complete_structured(self, *call: Any) -> Any:
            await world.deps().stores.sessions.change(ADA, MAIN_SESSION, title="Mine")
            return await super().complete_structured(*call)

    _, answer = await store_messages(world, "When?", "Friday.")
    with RenamingModel(answers=script_notes(OUTPUT)) as model:
        await after_turn(build_after_turn_deps(world, model), ADA, MAIN_SESSION, answer.id)

    session = await load_session(world)
    assert (session.title, session.notes.tags) == ("Mine", ("Lisbon", "Offsite"))


async def test_a_chat_that_is_cleared_meanwhile_gets_no_notes_m130(world: ChatFixture) -> None:
    class ClearingModel(ScriptedModel):
        async def complete_structured(self, *call: Any) -> Any:
            await world.deps().stores.messages.clear(ADA, MAIN_SESSION)
            await store_messages(world, "new")
            return await super().complete_structured(*call)

    _, answer = await store_messages(world, "When?", "Friday.")
    with ClearingModel(answers=script_notes(OUTPUT)) as model:
        await after_turn(build_after_turn_deps(world, model), ADA, MAIN_SESSION, answer.id)

    session = await load_session(world)
    assert (session.title, session.notes.tags) == ("", ())


@pytest.mark.parametrize(
    "changes",
    [
        {"sender": "human"},
        {"route": "crisis"},
        {"route": "command"},
        {"crisis_level": 1},
        {"from_integration": True},
        {"metadata": {"outcome": "failed"}},
    ],
)
async def test_only_ordinary_answers_are_noted_m130(
    world: ChatFixture, changes: Mapping[str, Any]
) -> None:
    _, answer = await store_messages(world, "When?", "Friday.")
    await world.deps().stores.messages.change(ADA, answer.id, **changes)

    await note(world, answer)

    assert (await load_answer(world, answer)).notes is None


@pytest.mark.parametrize("mode", ["incognito", "client_encrypted"])
async def test_a_private_chat_publishes_no_end_of_a_turn_and_is_not_noted_m130(
    world: ChatFixture, mode: StorageMode
) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        deps = world.deps(model)
        session = await chat_sessions.create(deps, ADA, "", None, storage_mode=mode)
        end = require_end(await ask(deps, "Hello?", session_id=session.id))
        await after_turn(build_after_turn_deps(world, model), ADA, session.id, end.message.id)

    assert world.events.published == []


async def test_the_category_is_kept_until_the_topic_clearly_shifts(world: ChatFixture) -> None:
    texts = [text for n in range(3) for text in (f"Question {n}?", f"Answer {n}.")]
    messages = await store_messages(world, *texts)
    outputs = [
        {"category": "travel", "topic_shift": "unclear"},
        {"category": "cooking", "topic_shift": "same_topic"},
        {"category": "law", "topic_shift": "noticeable_shift"},
    ]

    seen = []
    for answer, output in zip(messages[1::2], outputs, strict=True):
        await note(world, answer, output)
        seen.append((await load_session(world)).notes.category)

    assert seen == ["travel", "travel", "law"]


async def test_malformed_output_spoils_nothing_beside_itself_m118(world: ChatFixture) -> None:
    _, answer = await store_messages(world, "When?", "Friday.")
    output = {
        "language": 7,
        "topic_shift": "sideways",
        "category": None,
        "needs_project_overview": "yes",
        "summary": ["a"],
        "tags": "Lisbon",
        "icons": ["No Such Icon!", "map-pin", 3],
        "follow_ups": [None, {"text": "x"}, FOLLOW_UPS[0]],
        "memory_suggestions": ["remember", {"operation": "burn"}],
        "setting_suggestions": {"setting": "name"},
        "harmful_response": "very",
    }

    await note(world, answer, output)

    notes, noted = (await load_session(world)).notes, await load_answer(world, answer)
    assert (notes.language, notes.topic_shift, notes.category) == ("en", "unclear", "general")
    assert (notes.summary, notes.tags, notes.icons) == ("", (), ("map-pin",))
    assert notes.needs_project_overview is False
    assert noted.notes == AnswerNotes(follow_ups=(FOLLOW_UPS[0],))
    assert noted.harm == 0.0


@pytest.mark.parametrize(
    ("score", "harm"),
    [(11, 10.0), (-3, 0.0), (float("nan"), 0.0), (float("inf"), 10.0), (6.9, 6.9), (True, 0.0)],
)
async def test_a_rating_of_harm_is_between_0_and_10(
    world: ChatFixture, score: object, harm: float
) -> None:
    _, answer = await store_messages(world, "When?", "Friday.")

    await note(world, answer, {"harmful_response": score})

    assert (await load_answer(world, answer)).harm == harm


async def ask_about_memory(
    world: ChatFixture, question: str, answer: str, *memories: str, tool: str = "get_memories"
) -> MessageId:
    """Ask a question whose answer rests on memories; return the id of the answer."""
    await store_memories(world, ADA, memories)
    arguments = {"query": "code"} if tool == "search_memories" else {}
    with ScriptedModel(script_calls((tool, arguments)), script_answer(answer)) as model:
        return require_end(await ask(world.deps(model), question)).message.id


@pytest.mark.parametrize("tool", ["get_memories", "search_memories"])
async def test_details_of_memories_reach_neither_the_call_nor_summary_and_tags_m119(
    world: ChatFixture, tool: str
) -> None:
    answer_id = await ask_about_memory(
        world,
        "What is my garden code?",
        f"Your garden code is {CANARY}-4711, you told me [so].",
        f"User's garden code is {CANARY}-4711",
        tool=tool,
    )

    leaking = {
        "summary": f"The user asked for a code. It is {CANARY.lower()}. It was found.",
        "tags": ["garden", f"code {CANARY}", "4711"],
    }
    model = await note(world, answer_id, leaking)

    notes = (await load_session(world)).notes
    assert CANARY not in str(model.prompts)
    assert "4711" not in str(model.prompts)
    assert notes.summary == "The user asked for a code. It was found."
    assert notes.tags == ("garden",)


async def test_details_given_in_an_earlier_turn_stay_out_as_well_m119(world: ChatFixture) -> None:
    await store_memories(world, ADA, [f"User's code is {CANARY}"])
    turns = [script_calls(("get_memories", {})), script_answer("I know it.")]
    with ScriptedModel(*turns, script_answer(f"As I said: {CANARY}.")) as model:
        deps = world.deps(model)
        await ask(deps, "What is my code?")
        world.clock.advance(seconds=1)
        end = require_end(await ask(deps, "Say it."))

    model = await note(world, end.message.id, {"summary": f"It is {CANARY}."})

    assert CANARY not in str(model.prompts)
    assert (await load_session(world)).notes.summary == ""


async def test_a_long_list_of_memories_hides_those_that_nobody_was_shown_m119(
    world: ChatFixture,
) -> None:
    fillers = [f"User knows the fact number {n} about lighthouses and {n}" for n in range(60)]
    memories = [*fillers[:30], f"User's code is {CANARY}", *fillers[30:]]
    answer_id = await ask_about_memory(world, "What is my code?", f"It is {CANARY}.", *memories)
    step = (await load_answer(world, answer_id)).steps[0]

    model = await note(world, answer_id, {"tags": [CANARY]})

    assert CANARY not in str(step), "the list is shown in part"
    assert CANARY not in str(model.prompts)
    assert (await load_session(world)).notes.tags == ()


async def test_details_of_settings_stay_out_m120(world: ChatFixture) -> None:
    await world.deps().stores.profiles.change(ADA, interests=("Falconry",), name="Wilhelmina")
    _, answer = await store_messages(
        world, "What shall I do on Sunday?", "Wilhelmina, go and see a falconry show."
    )

    model = await note(world, answer, {"tags": ["Sunday", "Falconry"], "summary": "Falconry."})

    assert model.prompts[0][1].data["answer"] == "…, go and see a … show."
    assert (await load_session(world)).notes.tags == ("Sunday",)


async def test_next_steps_are_for_answers_with_code_alone_m126(world: ChatFixture) -> None:
    steps = ["Check the query for injection flaws", "Document why it retries thrice"]
    texts = ("Write a query", "```sql\nselect 1\n```", "And a poem about it", "Roses are red.")
    _, with_code, _, without_code = await store_messages(world, *texts)

    await note(world, with_code, {"next_steps": steps})
    await note(world, without_code, {"next_steps": steps})

    coded, plain = [(await load_answer(world, m)).notes for m in (with_code, without_code)]
    assert coded is not None
    assert coded.next_steps == tuple(steps)
    assert plain == AnswerNotes()


async def test_new_categories_are_noted_and_read_by_the_next_call_m108(world: ChatFixture) -> None:
    _, first, _, second = await store_messages(world, "When?", "Friday.", "Where?", "Lisbon.")
    await note(world, first, {"new_categories": ["Travel preferences", "travel preferences"]})
    model = await note(world, second, {})

    noted = (await load_answer(world, first)).notes
    assert noted is not None
    assert noted.new_categories == ("Travel preferences",)
    assert model.prompts[0][1].data["wanted_categories"] == ("Travel preferences",)


async def test_a_changed_fact_becomes_a_change_of_the_memory_it_is_about_m107(
    world: ChatFixture,
) -> None:
    await store_memories(world, ADA, ["User lives in Porto", "User likes tea"])
    _, answer = await store_messages(world, "I moved to Lisbon last week.", "Nice!")
    suggestion = {
        "operation": "update",
        "fact": "User lives in Lisbon",
        "about": "where the user lives",
        "quote": "I moved to Lisbon",
    }

    await note(world, answer, {"memory_suggestions": [suggestion]})

    noted = (await load_answer(world, answer)).notes
    assert noted is not None
    assert noted.actions == (
        SuggestedAction(
            tool="update_memory",
            arguments={"content": "User lives in Lisbon"},
            entry_id=MemoryId("m000"),
        ),
    )


@pytest.mark.parametrize(
    ("suggestion", "tool"),
    [
        ({"operation": "add", "fact": "User plays chess", "quote": "I play chess"}, "remember"),
        ({"operation": "delete", "about": "likes tea", "quote": "forget the tea"}, "delete_memory"),
        ({"operation": "add", "fact": "User likes tea", "quote": "I play chess"}, None),
        ({"operation": "add", "fact": "User is rich", "quote": "send me money"}, None),
        ({"operation": "add", "fact": "User owes Eve 900", "quote": "I play chess"}, None),
        ({"operation": "add", "fact": "User plays chess", "quote": ""}, None),
        ({"operation": "add", "fact": "User plays chess", "quote": "p"}, None),
        ({"operation": "add", "fact": "User plays chess", "quote": "lay ches"}, None),
        ({"operation": "add", "fact": "User " + "plays " * 20, "quote": "I play chess"}, None),
        ({"operation": "delete", "about": "owns a boat", "quote": "forget the tea"}, None),
    ],
)
async def test_a_suggested_memory_is_proved_by_the_owners_words_m107(
    world: ChatFixture, suggestion: Mapping[str, Any], tool: str | None
) -> None:
    await store_memories(world, ADA, ["User likes tea"])
    question = "I play chess now, and please forget the tea."
    _, answer = await store_messages(world, question, "Someone wrote: send me money.")

    await note(world, answer, {"memory_suggestions": [suggestion]})

    assert await list_tools(world, answer) == ([tool] if tool else [])


@pytest.mark.parametrize(
    ("setting", "value", "is_suggested"),
    [
        ("language", "de", True),
        ("language", "German", False),
        ("time_zone", "Europe/Lisbon", True),
        ("time_zone", "Lisbon", False),
        ("interests", "sailing", True),
        ("interests", "Chess", False),
        ("learning_style", "by examples", True),
        ("name", "", False),
        ("name", "Eve", False),
        ("chat_prompt", "Obey.", False),
        ("retention_days", "1", False),
    ],
)
async def test_a_suggested_setting_is_one_there_is_and_another_value_m107(
    world: ChatFixture, setting: str, value: str, *, is_suggested: bool
) -> None:
    await world.deps().stores.profiles.change(ADA, interests=("chess",))
    said = "I like sailing, and by examples I learn best"
    _, answer = await store_messages(world, f"From now on: {said}.", "Fine.")
    suggestion = {"setting": setting, "value": value, "quote": said}

    await note(world, answer, {"setting_suggestions": [suggestion]})

    assert await list_tools(world, answer) == (["change_profile"] if is_suggested else [])


async def list_tools(world: ChatFixture, answer: Message) -> Sequence[str]:
    noted = (await load_answer(world, answer)).notes
    assert noted is not None
    return [action.tool for action in noted.actions]


async def test_a_chat_of_an_app_suggests_no_memories_m107(world: ChatFixture) -> None:
    await store_messages(world, "I play chess.", "Nice.")
    stores = world.deps().stores
    await stores.sessions.change(ADA, MAIN_SESSION, app_id="chess-app")
    newest = await stores.messages.list_newest(ADA, MAIN_SESSION, limit=1)
    suggestion = {"operation": "add", "fact": "User plays chess", "quote": "I play chess"}

    await note(world, newest[0], {"memory_suggestions": [suggestion]})

    assert await list_tools(world, newest[0]) == []


async def test_notes_of_another_version_are_not_read_m119(world: ChatFixture) -> None:
    answers = [script_answer("On Friday."), script_answer("In Lisbon.")]
    async with open_chat(world, ScriptedModel(*answers)) as chat:
        first = (await chat.ask("When is the offsite?")).headers["x-run-id"]
        await note(world, MessageId(first), OUTPUT)
        edited = (await chat.add_version(f"{first}-q", "Where is it?")).headers["x-run-id"]

    model = await note(world, MessageId(edited), {"tags": ["Place"]})

    assert model.prompts[0][1].data["tags"] == ()
    session = await load_session(world)
    assert (session.title, session.notes.tags) == ("Lisbon offsite", ("Place",))


@pytest.mark.parametrize(
    ("noted", "profile_language", "language"),
    [
        ("de", None, "de"),
        ("pt-BR", "fr", "pt"),
        ("", "fr-CA", "fr"),
        ("", None, "en"),
        ("?", None, "en"),
    ],
)
async def test_a_chat_has_the_language_that_is_noted_else_its_owners_else_english(
    world: ChatFixture, noted: str, profile_language: str | None, language: str
) -> None:
    await world.deps().stores.profiles.change(ADA, language=profile_language)
    _, first, _, second = await store_messages(world, "When?", "Friday.", "Where?", "Lisbon.")

    await note(world, first, {"language": noted})
    await note(world, second, ModelFailed("refused"))

    assert (await load_session(world)).notes.language == language


async def test_what_was_noted_before_a_forgetting_is_not_kept_m119(world: ChatFixture) -> None:
    _, first, _, second = await store_messages(world, "When?", "Friday.", "Where?", "Lisbon.")
    await note(world, first, OUTPUT)
    forgot_at = second.created_at - (second.created_at - first.created_at) / 2
    await world.deps().stores.profiles.change(ADA, forgot_at=forgot_at)

    model = await note(world, second, {"tags": ["Place"]})

    notes = (await load_session(world)).notes
    assert (model.prompts[0][1].data["summary"], model.prompts[0][1].data["tags"]) == ("", ())
    assert (notes.summary, notes.tags, notes.icons) == ("", ("Place",), ("map-pin", "calendar"))


@pytest.mark.parametrize(
    ("follow_up_language", "new_chat_language", "shown"),
    [
        ("de", "fr", (1, 1)),
        ("en", "fr", (0, 1)),
        ("de", "de", (1, 0)),
        ("", "", (1, 1)),
        ("de-AT", "fr-CA", (1, 1)),
    ],
)
async def test_suggestions_in_another_language_are_dropped_m118(
    world: ChatFixture, follow_up_language: str, new_chat_language: str, shown: tuple[int, int]
) -> None:
    await world.deps().stores.profiles.change(ADA, language="fr")
    _, answer = await store_messages(world, "Wann ist das Treffen?", "Am Freitag.")
    output = {
        "language": "de",
        "follow_up_language": follow_up_language,
        "follow_ups": ["Zeig mir wer noch kommt"],
        "new_chat_language": new_chat_language,
        "new_chats": ["Prépare une liste de courses"],
    }

    await note(world, answer, output)

    noted, session = await load_answer(world, answer), await load_session(world)
    assert noted.notes is not None
    assert (len(noted.notes.follow_ups), len(session.notes.new_chats)) == shown
