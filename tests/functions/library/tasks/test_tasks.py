"""Tasks over HTTP: filters, offsets, the order of a list, and what a phone's task app has of them."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from functions.library.tasks.action_item_schemas import MAX_BATCH
from shared.data.store.codec import dump
from shared.data.tasks.action_items import ActionItemFilter, ActionItems
from shared.domain.ids import ActionItemId, ConversationId, UserId
from shared.domain.store.documents import Set
from shared.domain.tasks.action_item import ActionItem
from shared.library.record_schemas import ROUTE_NAMES
from tests.fakes import CountingDocuments
from tests.fixtures.library import BODY, CONVERSATIONS, build_client
from tests.fixtures.processing import ALICE, START

TASKS = "/v1/action-items"
SYNC = f"{TASKS}/sync-batch"
PENDING = f"{TASKS}/pending-sync"


async def store_tasks(documents: Any, count: int, **fields: Any) -> list[ActionItem]:
    """Store tasks that were created one an hour; every second one is done. Return the newest first."""
    tasks = [build_task(n, **fields) for n in range(count)]
    await documents.write(*(Set(f"users/{ALICE}/action_items/{t.id}", dump(t)) for t in tasks))
    return tasks[::-1]


def build_task(n: int, **fields: Any) -> ActionItem:
    at = START + timedelta(hours=n)
    task = ActionItem(
        id=ActionItemId(f"a{n:03}"),
        description=f"Oil lamp {n}",
        created_at=at,
        updated_at=at,
        completed=n % 2 == 1,
        conversation_id=ConversationId("talk") if n % 3 == 0 else None,
    )
    return task.change(fields, at) if fields else task


async def list_ids(client: Any, **query: Any) -> tuple[list[str], bool]:
    page = (await client.get(TASKS, params=query)).json()
    return [item["id"] for item in page["action_items"]], page["has_more"]


async def add_task(client: Any, **fields: Any) -> dict[str, Any]:
    answer = await client.post(TASKS, json={"description": "Buy bread", **fields})
    assert answer.status_code == 200, answer.text
    task: dict[str, Any] = answer.json()
    return task


@pytest.mark.parametrize(
    ("query", "expected_ids"),
    [
        ({}, ["a004", "a003", "a002", "a001", "a000"]),
        ({"completed": "true"}, ["a003", "a001"]),
        ({"completed": "false"}, ["a004", "a002", "a000"]),
        ({"include_completed": "false"}, ["a004", "a002", "a000"]),
        ({"include_completed": "true"}, ["a004", "a003", "a002", "a001", "a000"]),
        ({"completed": "true", "include_completed": "false"}, ["a003", "a001"]),
        ({"conversation_id": "talk"}, ["a003", "a000"]),
        ({"conversation_id": "talk", "completed": "true"}, ["a003"]),
        ({"conversation_id": "unknown"}, []),
        ({"conversation_id": ""}, ["a004", "a003", "a002", "a001", "a000"]),
        ({"conversation_id": "../x"}, []),
        ({"start_date": "2026-03-02T10:00:00Z", "end_date": "2026-03-02T12:00:00.000Z"},
         ["a003", "a002", "a001"]),
        ({"start_date": "2026-03-02T12:00:00.000"}, ["a004", "a003"]),
        ({"end_date": "2026-03-02T10:00:00+01:00"}, ["a000"]),
        ({"something": "else"}, ["a004", "a003", "a002", "a001", "a000"]),
        ({"offset": 3}, ["a001", "a000"]),
        ({"offset": 5}, []),
        ({"offset": 5_000}, []),
        ({"completed": "false", "offset": 2}, ["a000"]),
    ],
)  # fmt: skip
async def test_a_list_shows_what_was_asked_for(world, alice, query, expected_ids):
    await store_tasks(world.documents, 5)

    assert await list_ids(alice, **query) == (expected_ids, False)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    completed=st.sampled_from([None, True, False]),
    conversation_id=st.sampled_from([None, ConversationId("talk")]),
    start=st.one_of(st.none(), st.integers(0, 14)),
    limit=st.integers(1, 6),
    offset=st.integers(0, 16),
)
async def test_every_page_is_a_piece_of_the_filtered_list(
    documents, completed, conversation_id, start, limit, offset
):
    tasks = await store_tasks(documents, 14)
    shown = ActionItemFilter(
        completed=completed,
        conversation_id=conversation_id,
        start=None if start is None else START + timedelta(hours=start),
    )

    page = await ActionItems(documents).list_newest(
        ALICE, limit=limit, offset=offset, where=shown.to_where()
    )

    matching = [
        task
        for task in tasks
        if completed in (None, task.completed)
        and conversation_id in (None, task.conversation_id)
        and (shown.start is None or task.created_at >= shown.start)
    ]
    assert [task.id for task in page] == [task.id for task in matching[offset : offset + limit]]


@pytest.mark.parametrize("size", [2, 3])
async def test_there_is_more_only_where_something_follows(world, alice, size):
    await store_tasks(world.documents, 4)

    assert (await list_ids(alice, limit=size))[1] is True
    assert (await list_ids(alice, limit=4 - size, offset=size))[1] is False
    assert (await list_ids(alice, limit=2, completed="false"))[1] is False
    assert (await list_ids(alice, limit=1, completed="false"))[1] is True


async def test_a_page_reads_what_it_skips_and_shows_and_nothing_else(documents):
    await store_tasks(documents, 40)
    counting = CountingDocuments(documents)
    where = ActionItemFilter(completed=False).to_where()

    await ActionItems(counting).list_newest(ALICE, limit=5, offset=10, where=where)

    assert (counting.reads, counting.documents) == (2, 15)


async def test_the_order_of_a_list_is_changed_field_by_field(alice):
    first, second = await add_task(alice), await add_task(alice, description="Buy milk")
    items = [
        {"id": first["id"], "sort_order": 2000},
        {"id": second["id"], "indent_level": 3},
        {"id": "gone", "indent_level": 1},
    ]

    await alice.patch(f"{TASKS}/{first['id']}", json={"indent_level": 1})
    answer = await alice.patch(f"{TASKS}/batch", json={"items": items})

    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "updated_count": 2})
    stored = (await alice.get(TASKS)).json()["action_items"]
    places = {task["description"]: (task["sort_order"], task["indent_level"]) for task in stored}
    assert places == {"Buy bread": (2000, 1), "Buy milk": (0, 3)}


async def test_five_hundred_tasks_are_put_in_order_at_once(world, alice):
    tasks = await store_tasks(world.documents, MAX_BATCH)
    items = [{"id": task.id, "sort_order": n} for n, task in enumerate(tasks)]

    answer = await alice.patch(f"{TASKS}/batch", json={"items": items})

    assert answer.json()["updated_count"] == MAX_BATCH
    stored = (await alice.get(TASKS, params={"limit": 500})).json()["action_items"]
    assert [task["sort_order"] for task in stored] == list(range(MAX_BATCH))


@pytest.mark.parametrize("path", [f"{TASKS}/batch", SYNC])
async def test_a_batch_is_bounded_and_reaches_no_other_user(world, alice, path):
    task = await add_task(alice)
    one_too_many = [{"id": task["id"]}] * (MAX_BATCH + 1)
    async with build_client(world, "bob") as bob:
        foreign = await bob.patch(path, json={"items": [{"id": task["id"], "sort_order": 9}]})

    assert (foreign.status_code, foreign.json()["detail"]) == (404, "Action item not found")
    assert (await alice.patch(path, json={"items": one_too_many})).status_code == 413
    assert (await alice.patch(path, json={"items": []})).json()["updated_count"] == 0
    assert (await alice.get(f"{TASKS}/{task['id']}")).json() == task


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"indent_level": 4}, "The indent level must be at most"),
        ({"indent_level": -1}, "The indent level must be at least"),
        ({"sort_order": 10**13}, "The sort order must be at most"),
        ({"export_platform": "x" * 65}, "The export platform must be at most"),
        ({"apple_reminder_id": "x" * 201}, "The apple reminder id must be at most"),
        ({"export_date": "soon"}, "The export date must be a date and time"),
        ({"description": ""}, "The description must not be empty"),
    ],
)
async def test_an_impossible_change_is_refused(alice, change, detail):
    task = await add_task(alice)

    answer = await alice.patch(f"{TASKS}/{task['id']}", json=change)

    assert (answer.status_code, answer.json()["detail"][: len(detail)]) == (422, detail)
    assert (await alice.get(f"{TASKS}/{task['id']}")).json() == task


@pytest.mark.parametrize("name", sorted(ROUTE_NAMES))
async def test_a_name_of_a_route_is_no_id_of_a_task(alice, name):
    answer = await alice.post(TASKS, json={"id": name, "description": "Buy bread"})

    assert (answer.status_code, answer.json()["detail"]) == (
        422,
        "Another name is needed: this one is kept for a list.",
    )


async def test_tasks_that_are_not_exported_wait_for_it_and_exported_ones_are_compared(alice):
    waiting = await add_task(alice)
    done = await add_task(alice, description="Call Ann", completed=True)
    exported = await add_task(alice, description="Water the roses")
    elsewhere = await add_task(alice, description="Oil the door")
    export = {"exported": True, "export_platform": "apple_reminders", "apple_reminder_id": "r1"}
    other_export = {"exported": True, "export_platform": "todoist"}
    items = [{"id": exported["id"], **export}, {"id": elsewhere["id"], **other_export}]

    answer = await alice.patch(SYNC, json={"items": items})
    pending = (await alice.get(PENDING, params={"platform": "apple_reminders"})).json()

    assert answer.json()["updated_count"] == 2
    assert [task["id"] for task in pending["pending_export"]] == [waiting["id"]]
    assert [task["apple_reminder_id"] for task in pending["synced_items"]] == ["r1"]
    assert done["completed_at"] is not None


async def test_what_was_done_in_the_task_app_is_done_here_and_the_other_way_round(alice):
    task = await add_task(alice)
    export = {"exported": True, "apple_reminder_id": "r1"}
    await alice.patch(SYNC, json={"items": [{"id": task["id"], **export}]})

    change = {"completed": True, "description": "Buy rye bread"}
    await alice.patch(SYNC, json={"items": [{"id": task["id"], **change}]})

    stored = (await alice.get(f"{TASKS}/{task['id']}")).json()
    assert (stored["completed"], stored["description"]) == (True, "Buy rye bread")
    assert stored["exported"]
    pending = (await alice.get(PENDING)).json()
    assert [item["id"] for item in pending["synced_items"]] == [task["id"]]
    assert pending["pending_export"] == []


async def test_changes_of_many_tasks_of_one_conversation_all_show_in_it(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()
    (task,) = (await alice.get(TASKS)).json()["action_items"]

    await alice.patch(SYNC, json={"items": [{"id": task["id"], "completed": True}]})

    (item,) = (await alice.get(f"{CONVERSATIONS}/talk")).json()["structured"]["action_items"]
    assert (item["description"], item["completed"]) == ("Call the printer", True)


async def test_processing_again_leaves_a_task_on_the_phone_and_in_its_place(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()
    (task,) = (await alice.get(TASKS)).json()["action_items"]
    place = {"exported": True, "apple_reminder_id": "r1", "sort_order": 5, "indent_level": 2}
    await alice.patch(f"{TASKS}/{task['id']}", json=place)

    await alice.patch(f"{CONVERSATIONS}/talk/title?title=Printer")
    await world.deliver_all()

    (kept,) = (await alice.get(TASKS)).json()["action_items"]
    assert {name: kept[name] for name in place} == place


async def test_the_connection_of_a_task_app_is_kept(alice):
    empty = (await alice.get("/v1/task-integrations")).json()
    settings = {"connected": True, "list_name": "Groceries", "access_token": "ya29.secret"}

    await alice.put("/v1/task-integrations/todoist", json={"connected": False})
    answer = await alice.put("/v1/task-integrations/apple_reminders", json=settings)

    assert (answer.status_code, empty) == (200, {"integrations": {}, "default_app": None})
    assert (await alice.get("/v1/task-integrations")).json() == {
        "integrations": {
            "todoist": {"connected": False},
            "apple_reminders": {"connected": True, "list_name": "Groceries"},
        },
        "default_app": "apple_reminders",
    }


@pytest.mark.parametrize(
    ("app", "body", "status"),
    [
        ("a b", {}, 404),
        ("todoist", {"list": "x" * 501}, 422),
        ("todoist", {"list": {"id": 1}}, 422),
        ("todoist", {f"setting_{n}": n for n in range(21)}, 422),
        ("todoist", {"connected": "perhaps"}, 422),
    ],
)
async def test_an_impossible_connection_of_a_task_app_is_refused(alice, app, body, status):
    answer = await alice.put(f"/v1/task-integrations/{app}", json=body)

    assert answer.status_code == status
    assert (await alice.get("/v1/task-integrations")).json()["integrations"] == {}


async def test_the_number_of_task_apps_is_bounded(alice):
    statuses = [
        (await alice.put(f"/v1/task-integrations/app{n}", json={})).status_code for n in range(21)
    ]

    assert statuses == [200] * 20 + [409]
    assert (await alice.put("/v1/task-integrations/app0", json={})).status_code == 200


async def test_another_user_sees_none_of_it(world, alice):
    await add_task(alice)
    await alice.put("/v1/task-integrations/todoist", json={})

    async with build_client(world, UserId("bob")) as bob:
        assert (await bob.get(PENDING)).json() == {"pending_export": [], "synced_items": []}
        assert (await bob.get("/v1/task-integrations")).json()["integrations"] == {}


@pytest.mark.parametrize("last", [{"id": "taken"}, {"id": "new", "description": "Sow"}])
async def test_a_batch_of_tasks_that_is_refused_in_its_middle_stores_none_of_them(
    alice, last: dict[str, Any]
):
    await add_task(alice, id="taken", description="Oil the lamp")
    batch = [{"description": "Call"}, {"id": "new", "description": "Reap"}, last]
    refused = [{"description": "Dig", **task} for task in batch]
    headers = {"Idempotency-Key": "phone-1"}

    first = await alice.post(f"{TASKS}/batch", json=refused, headers=headers)
    second = await alice.post(f"{TASKS}/batch", json=refused[:2], headers=headers)

    assert (first.status_code, second.status_code) == (409, 200)
    assert (await list_ids(alice))[0].count("taken") == 1
    assert len((await list_ids(alice))[0]) == 3
