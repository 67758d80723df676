"""Focus modes: saved, switched on and off in a chat, and their place in the prompt (M104, M109)."""

from typing import Any

import httpx
import pytest

from functions.chat.context.prompt import render_rules
from shared.domain.apps.app import App
from shared.domain.chats.focus_mode import MAX_FOCUS_MODES
from shared.domain.ids import AppId
from shared.domain.models.model import SystemText, ToolResult
from tests.fakes import ScriptedModel, ScriptedTurn, script_answer, script_calls
from tests.fixtures.chat import EVE, ChatFixture
from tests.functions.chat.test_message_routes import ask, open_chat

MODES = "/v1/focus-modes"
EXAM = {"name": "Exam", "instructions": "Ask me questions.\nGive no answers."}
RULES = render_rules()


async def save_mode(http: httpx.AsyncClient, **changes: str) -> str:
    saved = await http.post(MODES, json={**EXAM, **changes})
    assert saved.status_code == 200, saved.text
    return str(saved.json()["id"])


async def set_focus(http: httpx.AsyncClient, chat: str, mode_id: str | None) -> dict[str, Any]:
    response = await http.put(f"/v2/chat-sessions/{chat}/focus", json={"focus_mode_id": mode_id})
    assert response.status_code == 200, response.text
    session: dict[str, Any] = response.json()
    return session


def list_system_texts(model: ScriptedModel, call: int) -> list[str]:
    return [m.text for m in model.calls[call].messages if isinstance(m, SystemText)]


async def test_a_mode_is_first_after_our_rules_while_it_is_on_in_its_chat_m104(
    world: ChatFixture,
) -> None:
    with ScriptedModel(*[script_answer("Yes.")] * 4) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            mode_id = await save_mode(http)
            on = await set_focus(http, "main", mode_id)
            other = (await http.post("/v2/chat-sessions", json={})).json()
            await ask(deps, {"text": "One"})
            await ask(deps, {"text": "Two"})
            await ask(deps, {"text": "Elsewhere"}, chat_session_id=other["id"])
            off = await set_focus(http, "main", None)
            await ask(deps, {"text": "Three"})

    assert (on["focus_mode_id"], off["focus_mode_id"]) == (mode_id, None)
    focus = list_system_texts(model, 0)[1]
    assert focus.startswith("# Focus: Exam\n")
    assert focus.endswith(f"\n{EXAM['instructions']}")
    assert [list_system_texts(model, n) for n in range(4)] == [
        [RULES, focus],
        [RULES, focus],
        [RULES],
        [RULES],
    ]


async def test_the_assistant_switches_a_mode_on_and_off_m104(world: ChatFixture) -> None:
    def call(name: str) -> ScriptedTurn:
        return script_calls(("set_focus_mode", {"name": name}))

    with ScriptedModel(
        call("exam "), script_answer("Shall I?"), script_answer("It is on."),
        call("Party"), script_answer("There is none."),
        call(""), script_answer("Shall I?"), script_answer("It is off."), script_answer("Yes."),
    ) as model:  # fmt: skip
        deps = world.deps(model)
        async with open_chat(deps) as http:
            await save_mode(http)
        for text in ("Exam, please", "yes", "Party, please", "Enough", "yes", "Hello"):
            world.clock.advance(seconds=5)
            await ask(deps, {"text": text})

    results = [
        [m.text for m in model.calls[n].messages if isinstance(m, ToolResult)][-1]
        for n in (2, 4, 7)
    ]
    assert "is on from the next message" in results[0]
    assert "There are: Exam" in results[1]
    assert "ends with this answer" in results[2]
    assert [len(list_system_texts(model, n)) for n in (0, 2, 3, 7, 8)] == [1, 1, 2, 2, 1]
    (spec,) = [tool for tool in model.calls[0].tools if tool.name == "set_focus_mode"]
    assert '["Exam"]' in spec.description


async def test_without_modes_there_is_no_tool_for_them_m104(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Yes.")) as model:
        await ask(world.deps(model), {"text": "Hello"})

    assert "set_focus_mode" not in {tool.name for tool in model.calls[0].tools}


async def test_modes_are_listed_changed_and_deleted_m104(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Yes.")) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            mode_id = await save_mode(http, name=" Exam\u202e ")
            again = await save_mode(http)
            party = await save_mode(http, name="Party", instructions="Be merry.")
            path = f"{MODES}/{mode_id}"
            renamed = (await http.patch(path, json={"name": "Test"})).json()
            taken = await http.patch(path, json={"name": "PARTY"})
            await set_focus(http, "main", mode_id)
            deleted = await http.delete(path)
            missing = [
                await http.delete(path),
                await http.patch(path, json={"name": "x"}),
                await http.put("/v2/chat-sessions/main/focus", json={"focus_mode_id": mode_id}),
            ]
            listed = (await http.get(MODES)).json()
            await ask(deps, {"text": "Hello"})

    assert again == mode_id
    assert renamed == {**EXAM, "id": mode_id, "name": "Test"}
    assert (taken.status_code, taken.json()["detail"]) == (
        409,
        "You have another focus mode named “PARTY”.",
    )
    assert deleted.json() == {"status": "ok"}
    assert [(r.status_code, r.json()["detail"]) for r in missing] == [
        (404, "Focus mode not found")
    ] * 3
    assert [mode["id"] for mode in listed] == [party]
    assert list_system_texts(model, 0) == [RULES]


@pytest.mark.parametrize(
    "changes",
    [{"name": "\u202e "}, {"name": "x" * 61}, {"instructions": "x" * 2_001}, {"instructions": " "}],
)
async def test_a_mode_without_visible_words_or_with_too_many_is_refused_m104(
    world: ChatFixture, changes: dict[str, str]
) -> None:
    async with open_chat(world.deps()) as http:
        refusal = await http.post(MODES, json={**EXAM, **changes})
        listed = (await http.get(MODES)).json()

    assert refusal.status_code == 422
    assert listed == []


async def test_there_are_at_most_so_many_modes_m104(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        for n in range(MAX_FOCUS_MODES):
            await save_mode(http, name=f"Mode {n}")
        refusal = await http.post(MODES, json=EXAM)

    assert refusal.status_code == 409
    assert refusal.json()["detail"] == "You may have 20 focus modes; delete one first."


async def test_a_cleared_chat_keeps_its_focus_m104(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        mode_id = await save_mode(http)
        chat = (await http.post("/v2/chat-sessions", json={"title": "Latin"})).json()["id"]
        await set_focus(http, chat, mode_id)
        await http.delete("/v2/messages", params={"chat_session_id": chat})
        cleared = (await http.get(f"/v2/chat-sessions/{chat}")).json()

    assert cleared["focus_mode_id"] == mode_id


async def test_rules_focus_prompt_and_app_follow_one_another_m109(world: ChatFixture) -> None:
    app = App(
        id=AppId("CHESS"),
        owner=EVE,
        name="Chess",
        created_at=world.clock.now(),
        private=False,
        chat_prompt="Speak of openings.",
    )
    with ScriptedModel(script_answer("Yes."), script_answer("Yes.")) as model:
        deps = world.deps(model)
        await deps.stores.apps.create(app)
        async with open_chat(deps) as http:
            await http.put("/v1/users/chat-prompt", json={"prompt": "Be brief."})
            await ask(deps, {"text": "Hello"}, app_id="CHESS")
            await set_focus(http, "CHESS", await save_mode(http))
            await ask(deps, {"text": "Hello"}, app_id="CHESS")

    rules, focus, own, of_app = list_system_texts(model, 1)
    assert (rules, own) == (RULES, "Be brief.")
    assert focus.startswith("# Focus: Exam")
    assert "Speak of openings." in of_app
