"""Announcements of tasks: phones hear of each that gets, changes or loses a day, or is deleted."""

from dataclasses import replace
from typing import Any

import pytest
from httpx import AsyncClient

from functions.library.routes import LIBRARY_ROUTES
from shared.domain.account.profile import Device
from tests.fakes import ScriptedModel
from tests.fault_injection import FaultyPort, raise_unavailable
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.library import BODY, CONVERSATIONS, build_client, build_library_deps
from tests.fixtures.processing import (
    ALICE,
    START,
    ProcessingFixture,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_structure_output,
)

TASKS = "/v1/action-items"
DUE = "2026-12-01T10:00:00Z"


@pytest.fixture
async def phone(world: Any, alice: AsyncClient) -> AsyncClient:
    """Alice, with a device that receives pushes."""
    device = Device(id="ios_1", fcm_token="token", time_zone="UTC", updated_at=START)
    await world.deps.stores.devices.save(ALICE, device)
    return alice


def list_announced(world: Any) -> list[tuple[str, str]]:
    tasks = world.tasks.list_by_target("deliver_notification")
    assert all(task.body["uid"] == ALICE for task in tasks)
    return [(task.body["kind"], task.body["id"]) for task in tasks]


async def add_task(client: AsyncClient, **fields: Any) -> str:
    task_id: str = (await client.post(TASKS, json={"description": "Buy bread", **fields})).json()[
        "id"
    ]
    return task_id


async def test_a_task_is_announced_with_its_day_and_each_change_and_when_it_is_deleted(
    world, phone
):
    task_id = await add_task(phone, due_at=DUE)
    for change in ({"description": "Buy rolls"}, {"completed": True}, {"due_at": None}):
        world.clock.advance(seconds=1)
        await phone.patch(f"{TASKS}/{task_id}", json=change)
    await phone.patch(f"{TASKS}/{task_id}", json={"due_at": DUE, "completed": False})
    await phone.delete(f"{TASKS}/{task_id}")

    kinds = [kind for kind, _ in list_announced(world)]
    assert kinds[0] == "action_item_reminder"
    assert kinds[1:4] == ["action_item_update"] * 3
    assert kinds[-1] == "action_item_delete"


async def test_a_task_without_a_day_and_a_place_in_a_list_are_announced_to_nobody(world, phone):
    task_id = await add_task(phone)
    dated_id = await add_task(phone, due_at=DUE)
    announced = list_announced(world)

    await phone.patch(f"{TASKS}/{task_id}", json={"description": "Buy rolls"})
    await phone.patch(f"{TASKS}/{dated_id}", json={"sort_order": 3, "exported": True})
    await phone.delete(f"{TASKS}/{task_id}")

    assert list_announced(world) == announced == [("action_item_reminder", dated_id)]


async def test_what_a_phone_changes_of_many_tasks_is_announced(world, phone):
    ids = [await add_task(phone) for _ in range(2)]

    items = [{"id": ids[0], "due_at": DUE}, {"id": ids[1], "description": "Buy rolls"}]
    await phone.patch(f"{TASKS}/sync-batch", json={"items": items})

    assert list_announced(world) == [("action_item_update", ids[0])]


async def test_accepted_tasks_are_announced(world, phone):
    async with build_client(world, "bob") as bob:
        task_id = await add_task(bob, due_at=DUE)
        share = (await bob.post(f"{TASKS}/share", json={"task_ids": [task_id]})).json()

    await phone.post(f"{TASKS}/accept", json={"token": share["token"]})

    (copy,) = (await phone.get(TASKS)).json()["action_items"]
    assert list_announced(world) == [("action_item_reminder", copy["id"])]


async def test_without_a_device_nothing_is_queued(world, alice):
    await add_task(alice, due_at=DUE)

    assert list_announced(world) == []


@pytest.mark.usefixtures("phone")
async def test_a_task_is_stored_also_when_it_cannot_be_announced(world):
    broken_tasks: Any = FaultyPort(world.tasks, create=[raise_unavailable])
    deps = replace(build_library_deps(world), tasks=broken_tasks)
    headers = build_auth_headers(ALICE)

    async with open_client("library", LIBRARY_ROUTES, deps, headers) as client:
        answer = await client.post(TASKS, json={"description": "Buy bread", "due_at": DUE})
        stored = (await client.get(TASKS)).json()["action_items"]

    assert (answer.status_code, len(stored)) == (200, 1)
    assert list_announced(world) == []


@pytest.fixture
async def dated_world(database: Any) -> ProcessingFixture:
    """A conversation from which a task with a day was extracted, and a phone."""
    structure = build_structure_output(
        action_items=[{"description": "Call the printer", "due_at": DUE}]
    )
    script = build_script({**build_outputs(), "structure": structure})
    world = build_processing_fixture(database, ScriptedModel(answers=script))
    device = Device(id="ios_1", fcm_token="token", time_zone="UTC", updated_at=START)
    await world.deps.stores.devices.save(ALICE, device)
    async with build_client(world, ALICE) as client:
        await client.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()
    return world


async def test_tasks_of_a_conversation_are_announced_and_taken_away_with_it(dated_world):
    first = list_announced(dated_world)

    async with build_client(dated_world, ALICE) as client:
        (task,) = (await client.get(TASKS)).json()["action_items"]
        await client.delete(f"{CONVERSATIONS}/talk?cascade=true")
    await dated_world.deliver_all()

    assert first == [("action_item_update", task["id"])]
    assert list_announced(dated_world)[1:] == [("action_item_delete", task["id"])]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "action-items", {"items_idx": [0], "values": [True]}),
        ("PATCH", "action-items/0",
         {"old_description": "Call the printer", "description": "Call Ann"}),
        ("DELETE", "action-items", {"description": "Call the printer"}),
    ],
)  # fmt: skip
async def test_a_task_that_is_changed_in_its_conversation_is_announced(
    dated_world, method, path, body
):
    (kind, task_id), *_ = list_announced(dated_world)
    dated_world.clock.advance(seconds=1)

    async with build_client(dated_world, ALICE) as client:
        answer = await client.request(method, f"{CONVERSATIONS}/talk/{path}", json=body)

    assert answer.is_success
    assert kind == "action_item_update"
    assert list_announced(dated_world)[1:] == [("action_item_delete", task_id)]
