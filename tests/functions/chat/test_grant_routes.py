"""Routes of tool grants: what the chat may call, and a switch for each tool."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from functions.chat.consent.disclosure import DAY_BUDGET_BITS
from shared.domain.apps.app import App
from tests.fakes import script_answer
from tests.fixtures.chat import ChatFixture
from tests.functions.chat.test_consent import ADD, FIND, MILK, NOTES, call, install, list_calls, say
from tests.functions.chat.test_message_routes import open_chat

CACHE_S = 61


async def list_grants(world: ChatFixture) -> dict[str, dict[str, Any]]:
    async with open_chat(world.deps()) as http:
        response = await http.get("/v1/tool-grants")
    return {grant["tool"]: grant for grant in response.json()}


async def put_grant(world: ChatFixture, tool: str, state: str, **more: str) -> httpx.Response:
    body = {"kind": "app", "id": NOTES.id, "tool": tool, "state": state, **more}
    async with open_chat(world.deps()) as http:
        return await http.put("/v1/tool-grants", json=body)


async def change_description(world: ChatFixture, app: App) -> None:
    """Change the first tool, and let the cache of apps expire."""
    first, *others = app.chat_tools
    changed = replace(first, description="Finds notes, and tells others")
    await world.deps().stores.apps.update_app(
        app.id, lambda stored: replace(stored, chat_tools=(changed, *others))
    )
    world.clock.advance(seconds=CACHE_S)


async def test_each_tool_is_listed_with_its_class_state_and_maker_s1(world: ChatFixture) -> None:
    await install(world)

    grants = await list_grants(world)

    assert {name: (g["tool_class"], g["standing"], g["state"]) for name, g in grants.items()} == {
        "find_notes": ("read", "known", "default"),
        "add_note": ("write", "known", "default"),
        "send_note": ("sensitive", "known", "default"),
    }
    allowed = {name: grant["allows_always"] for name, grant in grants.items()}
    assert allowed == {"find_notes": True, "add_note": True, "send_note": False}
    assert grants["add_note"]["maker"] == "developer eve"
    assert grants["add_note"]["source"] == {"kind": "app", "id": "NOTES", "name": "Notes"}
    assert (grants["add_note"]["bits_today"], grants["add_note"]["bits_limit"]) == (
        0,
        DAY_BUDGET_BITS,
    )


async def test_what_a_maker_was_told_today_is_listed_and_forgotten_tomorrow_s2(
    world: ChatFixture,
) -> None:
    await install(world)
    await say(world, "Find milk", call(FIND, {"text": "milk"}), script_answer("Found."))
    clean = await list_grants(world)
    await say(world, "Find tea", call(FIND, {"text": "tea"}), script_answer("Found."))

    today = await list_grants(world)
    world.clock.advance(days=1)
    tomorrow = await list_grants(world)

    assert clean["find_notes"]["bits_today"] == 0 < clean["find_notes"]["clean_bits_today"]
    assert today["find_notes"]["clean_bits_today"] == clean["find_notes"]["clean_bits_today"]
    assert 0 < today["find_notes"]["bits_today"] == today["add_note"]["bits_today"] <= 48
    assert tomorrow["find_notes"]["bits_today"] == tomorrow["find_notes"]["clean_bits_today"] == 0


async def test_a_tool_allowed_for_always_runs_and_asks_again_by_default_s1(
    world: ChatFixture,
) -> None:
    await install(world)

    await put_grant(world, "add_note", "always")
    allowed, _ = await say(world, "Buy milk", call(ADD), script_answer("Done."))
    await put_grant(world, "add_note", "default")
    asked, _ = await say(world, "Buy milk", call(ADD), script_answer(""))

    assert allowed == "Done."
    assert asked.endswith("Reply yes, always or no.")
    assert list_calls(world) == [("add_note", MILK)]


async def test_a_tool_that_is_switched_off_is_listed_but_not_offered_s1(
    world: ChatFixture,
) -> None:
    await install(world)

    await put_grant(world, "add_note", "off")
    _, model = await say(world, "Buy milk", script_answer("I cannot."))

    assert (await list_grants(world))["add_note"]["state"] == "off"
    offered = [tool.name for tool in model.calls[0].tools]
    assert not any(name.startswith("add_note") for name in offered)
    assert any(name.startswith("find_notes") for name in offered)


@pytest.mark.parametrize(
    ("tool", "status", "detail"),
    [
        ("send_note", 409, "This tool asks each time: it cannot be allowed for always."),
        ("fly", 404, "Tool not found"),
    ],
)
async def test_a_decision_that_cannot_be_is_refused_s1(
    world: ChatFixture, tool: str, status: int, detail: str
) -> None:
    await install(world)

    response = await put_grant(world, tool, "always")

    assert (response.status_code, response.json()["detail"]) == (status, detail)


async def test_a_changed_tool_is_listed_so_and_runs_once_it_is_accepted_s3(
    world: ChatFixture,
) -> None:
    app = await install(world)
    await change_description(world, app)

    changed = (await list_grants(world))["find_notes"]
    await put_grant(world, "find_notes", "default", pin=changed["pin"])
    shown, _ = await say(world, "Find milk", call(FIND, {"text": "milk"}), script_answer("Found."))

    assert (changed["standing"], changed["state"]) == ("changed", "default")
    assert (await list_grants(world))["find_notes"]["standing"] == "known"
    assert shown == "Found."


async def test_a_user_decides_only_about_tools_of_their_own_apps_s1(world: ChatFixture) -> None:
    await install(world)
    async with open_chat(world.deps(), "bob") as http:
        listed = (await http.get("/v1/tool-grants")).json()
        body = {"kind": "app", "id": NOTES.id, "tool": "add_note", "state": "always"}
        refused = await http.put("/v1/tool-grants", json=body)

    assert (listed, refused.status_code) == ([], 404)
