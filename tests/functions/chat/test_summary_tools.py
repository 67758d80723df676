"""Daily summaries are switched and moved in a chat, shown with the answer, and undone (P8)."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from pydantic_core import from_json, to_json

from shared.data.chats.runs import _decode_event, _encode_event
from shared.domain.chats.library_change import LibraryChange
from shared.domain.chats.run import LibraryChanged
from shared.domain.conversations.daily_summary import DailySummarySettings
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.test_message_routes import open_chat

HOURS = 24


def script(**arguments: Any) -> ScriptedModel:
    """Let the model call the tool; a change is made once its owner allowed it."""
    call = script_calls(("manage_daily_summary", arguments))
    answers = ["Shall I?", "It is done."] if asks(arguments) else ["It is done."]
    return ScriptedModel(call, *map(script_answer, answers))


def asks(arguments: Mapping[str, Any]) -> bool:
    return arguments.get("enabled") is not None or 0 <= arguments.get("hour", -1) < HOURS


async def ask(world: ChatFixture, **arguments: Any) -> tuple[str, list[dict[str, Any]]]:
    """Let the model call the tool in a turn; return what it read, and the changes that are shown."""
    with script(**arguments) as model:
        async with open_chat(world.deps(model)) as http:
            for text in ["About my daily summary", *(["yes"] if asks(arguments) else [])]:
                world.clock.advance(seconds=5)
                await http.post("/v2/messages", json={"text": text})
            changes = await load_changes(http)
        (*_, result) = [
            m.text for m in model.calls[-1].messages if type(m).__name__ == "ToolResult"
        ]
    return result, changes


async def load_changes(http: httpx.AsyncClient) -> list[dict[str, Any]]:
    (answer, *_) = (await http.get("/v2/messages")).json()
    changes: list[dict[str, Any]] = answer["metadata"].get("changes", [])
    return [{**c, "url": f"/v1/messages/{answer['id']}/changes/{c['id']}/undo"} for c in changes]


async def load_settings(world: ChatFixture) -> DailySummarySettings:
    return (await world.deps().stores.profiles.get(ADA)).daily_summary


@pytest.mark.parametrize(
    ("arguments", "settings", "text"),
    [
        ({"enabled": False}, {"enabled": False, "hour": 22}, "Daily summaries are off"),
        (
            {"hour": 20},
            {"enabled": True, "hour": 20},
            "Daily summaries come at 20:00 of the same day",
        ),
        (
            {"hour": 7},
            {"enabled": True, "hour": 7},
            "Daily summaries come at 07:00 of the next morning",
        ),
    ],
)
async def test_a_question_changes_when_daily_summaries_are_made_p8(
    world: ChatFixture, arguments, settings, text
):
    result, changes = await ask(world, **arguments)

    assert await load_settings(world) == DailySummarySettings(**settings)
    assert [(change["text"], change["state"]) for change in changes] == [(text, "done")]
    assert text in result


async def test_without_arguments_the_tool_only_reads_p8(world: ChatFixture):
    result, changes = await ask(world)

    assert "Daily summaries come at 22:00 of the same day." in result
    assert changes == []


async def test_what_is_so_already_is_no_change_p8(world: ChatFixture):
    result, changes = await ask(world, enabled=True)

    assert "Nothing to change" in result
    assert changes == []


async def test_a_wrong_hour_is_refused_p8(world: ChatFixture):
    result, changes = await ask(world, hour=24)

    assert "Error" in result
    assert (changes, await load_settings(world)) == ([], DailySummarySettings())


async def test_a_change_is_undone_once_unless_it_was_changed_since_p8(world: ChatFixture):
    _, (change,) = await ask(world, enabled=False)
    async with open_chat(world.deps()) as http:
        undone = await http.post(change["url"])
        assert await load_settings(world) == DailySummarySettings()
        await world.deps().stores.profiles.change_daily_summary(ADA, enabled=False)
        again = await http.post(change["url"])

    assert undone.json()["state"] == "undone"
    assert (again.status_code, again.json()["state"]) == (200, "undone")
    assert not (await load_settings(world)).enabled


async def test_a_setting_that_was_changed_since_stays_p8(world: ChatFixture):
    _, (change,) = await ask(world, hour=20)
    await world.deps().stores.profiles.change_daily_summary(ADA, hour=9)

    async with open_chat(world.deps()) as http:
        refusal = await http.post(change["url"])

    detail = "These settings were changed since, so they stay as they are."
    assert (refusal.status_code, refusal.json()["detail"]) == (409, detail)
    assert (await load_settings(world)).hour == 9


async def test_a_change_of_the_hour_schedules_the_day_anew_p8(world: ChatFixture):
    await ask(world, hour=20)

    targets = [task.target for task in world.tasks.created]
    assert "summarise_day" in targets


def test_a_change_of_settings_is_the_same_when_another_process_reads_it_p8():
    before, after = DailySummarySettings(), DailySummarySettings(enabled=False)
    event = LibraryChanged(LibraryChange(id="c1", text="Off", before=before, after=after))

    stored_event = from_json(to_json(_encode_event(event)))

    assert _decode_event(*stored_event) == event


@pytest.mark.parametrize(("zone", "is_scheduled"), [("Asia/Tokyo", True), ("UTC", False)])
async def test_a_phone_in_another_time_zone_schedules_recent_days_anew_p8(
    world: ChatFixture, zone, is_scheduled
):
    async with open_chat(world.deps()) as http:
        body = {"fcm_token": "token", "time_zone": zone}
        answer = await http.post("/v1/users/fcm-token", json=body)

    assert answer.status_code == 200
    assert bool(world.tasks.list_by_target("summarise_day")) is is_scheduled


async def test_another_time_zone_in_the_profile_schedules_recent_days_anew_p8(world: ChatFixture):
    async with open_chat(world.deps()) as http:
        await http.patch("/v1/users/profile", json={"time_zone": "Asia/Tokyo"})

    assert world.tasks.list_by_target("summarise_day")
