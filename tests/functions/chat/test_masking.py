"""Masking in a chat: the model reads placeholders, and everything outside of it the originals."""

from dataclasses import replace

from functions.chat.deps import ChatDeps
from functions.chat.stretches.end_stretch import end_stretch
from functions.chat.turn.after_turn import after_turn
from shared.adapters.masked_model import MaskedModels, derive_masking_key
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.chats.run import AnswerText, ConfirmationRequested, ToolStarted
from shared.domain.models.model import AssistantTurn
from shared.ports import Models
from shared.security.masking import Masker
from tests.fakes import ScriptedModel, UnmaskedModels, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.chats import build_after_turn_deps, load_session, script_notes
from tests.functions.chat.test_consent import FIND, install, list_calls
from tests.functions.chat.test_consent import call as call_app
from tests.functions.chat.test_message_routes import open_chat
from tests.functions.chat.test_notes import OUTPUT
from tests.functions.chat.test_stretches import STRETCH
from tests.functions.chat.test_stretches import build_deps as build_stretch_deps
from tests.functions.chat.test_turn import ask, list_stored, require_end

SECRET = b"the secret of the server"
MAIL, PHONE = "ann@example.com", "030 1234567"
QUESTION = f"Remind me to write to {MAIL}, and that my doctor has {PHONE}"


def mask(model: ScriptedModel) -> Models:
    return MaskedModels(UnmaskedModels(model=model), masking="auto", secret=SECRET)


def build_masked_deps(world: ChatFixture, model: ScriptedModel) -> ChatDeps:
    return replace(world.deps(), model=mask(model))


def get_placeholder(value: str) -> str:
    return Masker(derive_masking_key(SECRET, ADA, MAIN_SESSION)).mask(value)


def read_all(model: ScriptedModel) -> str:
    return repr([(call.messages, call.tools) for call in model.calls]) + repr(model.prompts)


async def test_a_turn_shows_stores_and_does_with_the_values_what_the_model_does_with_placeholders_m101(
    world: ChatFixture,
) -> None:
    mail = get_placeholder(MAIL)
    with ScriptedModel(
        script_calls(("create_action_item", {"description": f"Write to {mail}"})),
        script_answer(f"I remind you of {mail[:5]}", mail[5:]),
    ) as model:
        deps = build_masked_deps(world, model)
        events = await ask(deps, QUESTION)

    assert MAIL not in read_all(model)
    assert PHONE not in read_all(model)
    assert mail in read_all(model)
    (item,) = await deps.stores.action_items.list_newest(ADA, limit=9)
    assert item.description == f"Write to {MAIL}"
    started = [event.arguments for event in events if isinstance(event, ToolStarted)]
    assert started == [f'{{"description": "Write to {MAIL}"}}']
    streamed = "".join(event.text for event in events if isinstance(event, AnswerText))
    told = f"I remind you of {MAIL}\n\nChanged: Created the task `Write to {MAIL}`. Reply undo."
    assert streamed == require_end(events).message.text == told
    assert [m.text for m in await list_stored(deps)] == [QUESTION, told]


async def test_the_next_turn_begins_with_the_same_bytes_m101(world: ChatFixture) -> None:
    with ScriptedModel(script_answer(f"To {get_placeholder(MAIL)}")) as first:
        await ask(build_masked_deps(world, first), QUESTION)
    world.clock.advance(seconds=5)
    with ScriptedModel(script_answer("Yes")) as second:
        deps = replace(build_masked_deps(world, second), new_id=lambda: "another")
        await ask(deps, "And then?")

    before, after = first.calls[0].messages, second.calls[0].messages
    assert after[:2] == before[:2]
    assert [m for m in after if isinstance(m, AssistantTurn)] == [
        AssistantTurn(text=f"To {get_placeholder(MAIL)}")
    ]
    assert MAIL not in read_all(second)


async def test_what_an_app_would_be_told_is_judged_and_sent_as_it_is_m101(
    world: ChatFixture,
) -> None:
    """A number that was read, and that the message does not contain, always asks."""
    await install(world)
    number, mail = get_placeholder(PHONE), get_placeholder(MAIL)
    with ScriptedModel(
        script_calls(("create_action_item", {"description": f"Call {number}"})),
        script_answer("Noted."),
    ) as model:
        await ask(build_masked_deps(world, model), f"Remind me to call {PHONE}")
    world.clock.advance(seconds=5)
    with ScriptedModel(
        script_calls(("get_action_items", {})),
        call_app(FIND, {"text": mail}),
        call_app(FIND, {"text": number}),
        script_answer("Done."),
    ) as model:
        deps = replace(build_masked_deps(world, model), new_id=lambda: "another")
        events = await ask(deps, f"Find notes on {MAIL}")

    asked = [e.confirmation.arguments for e in events if isinstance(e, ConfirmationRequested)]
    assert list_calls(world) == [("find_notes", {"text": MAIL})]
    assert asked == [f'{{"text": "{PHONE}"}}']
    assert PHONE not in read_all(model)


async def test_the_owner_may_want_no_masking_m101(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Yes")) as model:
        deps = build_masked_deps(world, model)
        async with open_chat(deps) as http:
            changed = await http.patch("/v1/users/profile", json={"masks_private_data": False})
        await ask(deps, QUESTION)

    assert changed.json()["masks_private_data"] is False
    assert model.calls[0].messages[-1].text.endswith(QUESTION)


async def test_the_notes_after_a_turn_and_the_arc_of_a_stretch_are_masked_m101(
    world: ChatFixture,
) -> None:
    mail = get_placeholder(MAIL)
    with ScriptedModel(script_answer("Noted.")) as model:
        answer = require_end(await ask(build_masked_deps(world, model), QUESTION)).message
    notes = {**OUTPUT, "title": f"Mail to {mail}", "summary": f"The user writes to {mail}."}
    arc = {**STRETCH, "summary": f"They write to {mail}.", "statements": []}
    with ScriptedModel(answers={**script_notes(notes), "chat/stretch": [arc]}) as model:
        after = replace(build_after_turn_deps(world, model), model=mask(model))
        await after_turn(after, ADA, MAIN_SESSION, answer.id)
        session = await load_session(world)
        stretch = replace(build_stretch_deps(world), model=mask(model))
        await end_stretch(stretch, ADA, MAIN_SESSION, session.updated_at, is_asked=True)

    assert session.title == f"Mail to {MAIL}"
    (stored,) = await stretch.stores.arcs.list_newest(ADA, limit=9)
    assert MAIL in stored.summary
    assert MAIL not in read_all(model)
    assert PHONE not in read_all(model)


async def test_the_diagnostics_of_an_answer_count_what_was_masked_and_hold_none_of_it_m101(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("Yes"), script_answer("Hello")) as model:
        async with open_chat(build_masked_deps(world, model)) as http:
            asked = await http.post("/v2/messages", json={"text": f"{QUESTION}, {MAIL}"})
            path = f"/v2/messages/{asked.headers['x-run-id']}/diagnostics"
            shown = await http.get(path)

            other = await http.post("/v2/chat-sessions", json={})
            params = {"chat_session_id": other.json()["id"]}
            asked = await http.post("/v2/messages", json={"text": "Hello"}, params=params)
            path = f"/v2/messages/{asked.headers['x-run-id']}/diagnostics"
            without = await http.get(path)

    assert shown.json()["masked"] == {"email": 1, "phone": 1}
    assert MAIL not in shown.text
    assert without.json()["masked"] == {}
