"""Refusals of an app's tools by models: what its developer reads of them (N3)."""

from typing import Any

import pytest

from functions.chat.tools.refused_tools import MAX_WORDS_CHARS, record_refused_tool
from shared.domain.provenance import LIBRARY, Source
from tests.fakes import replace_stores
from tests.fault_injection import FaultyPort, lose_response, raise_timed_out, raise_unavailable
from tests.fixtures.notes_app import NotesFixture
from tests.fixtures.tool_proxy import ALICE

WORDS = "Invalid schema for function 'find_0a1b': array schema missing items."


async def refuse(world: NotesFixture, app_id: str, words: str = WORDS, **changes: str) -> None:
    source = Source(kind="app", id=app_id, name="Notes")
    names = {"tool_name": "find", "model": "tiny-1", **changes}
    await record_refused_tool(
        world.deps.stores, source, words=words, now=world.clock.now(), **names
    )


async def read_refusals(world: NotesFixture, app_id: str) -> list[dict[str, Any]]:
    answer = await world.request("GET", f"/v1/apps/{app_id}/model-refusals")
    refusals: list[dict[str, Any]] = answer.json()
    return refusals


async def test_a_refusal_is_recorded_once_a_tool_model_and_day_n3(world: NotesFixture):
    app_id = (await world.install())["id"]

    await refuse(world, app_id)
    await refuse(world, app_id, "other words")
    world.clock.advance(seconds=1)
    await refuse(world, app_id, model="tiny-2")
    world.clock.advance(hours=24)
    await refuse(world, app_id)

    refusals = await read_refusals(world, app_id)
    assert [refusal["model"] for refusal in refusals] == ["tiny-1", "tiny-2", "tiny-1"]
    assert (refusals[2]["tool"], refusals[2]["words"]) == ("find", WORDS)
    world.clock.advance(hours=24 * 7)
    assert await read_refusals(world, app_id) == []


async def test_the_words_are_one_short_line_without_secrets_n3(world: NotesFixture):
    app_id = (await world.install())["id"]

    await refuse(
        world, app_id, "Error: no\n\titems \u202e" + "for Bearer a1b2c3d4e5f6 " + "x" * 900
    )

    [refusal] = await read_refusals(world, app_id)
    assert refusal["words"].startswith("no items for")
    assert "a1b2c3d4e5f6" not in refusal["words"]
    assert len(refusal["words"]) == MAX_WORDS_CHARS


async def test_only_its_developer_reads_what_models_refuse_n3(world: NotesFixture):
    app_id = (await world.install())["id"]

    answer = await world.request("GET", f"/v1/apps/{app_id}/model-refusals", uid=ALICE)

    assert answer.status_code == 403


async def test_what_no_app_declares_is_not_recorded_n3(world: NotesFixture):
    await record_refused_tool(
        world.deps.stores, LIBRARY, "find", "tiny-1", WORDS, world.clock.now()
    )


@pytest.mark.parametrize("fault", [raise_unavailable, raise_timed_out, lose_response])
async def test_a_refusal_that_cannot_be_recorded_ends_no_answer_n3(world: NotesFixture, fault: Any):
    stores = world.deps.stores
    failing = replace_stores(stores, model_refusals=FaultyPort(stores.model_refusals, add=[fault]))
    source = Source(kind="app", id="A", name="Notes")

    await record_refused_tool(failing, source, "find", "tiny-1", WORDS, world.clock.now())
