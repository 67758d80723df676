"""Task calls of the released app (R1)."""

from typing import Any

import pytest

from tests.contracts.omi_client.objects import ACTION_ITEM, ACTION_ITEM_PAGE
from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.readers import (
    anything,
    each,
    flag,
    integer,
    optional,
    shape,
    some,
    text,
    time,
)

TASKS = "/v1/action-items"
DUE = "2026-12-01T10:00:00.000Z"
SHARE = shape(url=text, token=text)
SHARED_TASKS = shape(
    sender_name=optional(text),
    tasks=each(shape(description=optional(text), due_at=optional(text))),
)
PENDING_SYNC = shape(pending_export=each(ACTION_ITEM), synced_items=each(ACTION_ITEM))
INTEGRATIONS = shape(integrations=anything, default_app=optional(text))


def add_task(phone: Phone, description: str = "Buy bread", **fields: Any) -> dict[str, Any]:
    body = {"description": description, "completed": False, **fields}
    task: dict[str, Any] = phone.send("POST", TASKS, ACTION_ITEM, json=body)
    return task


def change_task(phone: Phone, task: dict[str, Any], **fields: Any) -> dict[str, Any]:
    path = f"{TASKS}/{task['id']}"
    changed: dict[str, Any] = phone.send("PATCH", path, ACTION_ITEM, json=fields)
    return changed


def list_tasks(phone: Phone, **query: Any) -> list[dict[str, Any]]:
    page = phone.get(TASKS, ACTION_ITEM_PAGE, **{"limit": 100, "offset": 0, **query})
    tasks: list[dict[str, Any]] = page["action_items"]
    return tasks


@pytest.mark.client_call("getActionItems", "createActionItem")
def test_a_task_keeps_what_was_sent_r1(phone):
    task = add_task(phone, due_at=DUE)

    assert (task["description"], task["due_at"]) == ("Buy bread", time(DUE))
    assert list_tasks(phone) == [task]


@pytest.mark.client_call("updateActionItem", "getActionItems")
def test_a_task_is_changed_field_by_field_r1(phone):
    task = add_task(phone, due_at=DUE)

    done = change_task(phone, task, description="Buy rye bread", completed=True)
    without_day = change_task(phone, task, due_at=None)

    assert done["completed_at"] is not None
    assert (done["due_at"], without_day["due_at"]) == (time(DUE), None)
    assert list_tasks(phone) == [without_day]
    assert (without_day["description"], without_day["completed"]) == ("Buy rye bread", True)
    assert change_task(phone, task, completed=False)["completed_at"] is None


@pytest.mark.client_call("updateActionItem", "getActionItems")
def test_an_export_is_kept_so_that_no_reminder_is_made_twice_r1(phone):
    task = add_task(phone)
    export = {"exported": True, "export_platform": "apple_reminders", "apple_reminder_id": "r-1"}

    change_task(phone, task, **export, export_date=DUE)

    (shown,) = list_tasks(phone)
    assert {name: shown[name] for name in export} == export
    assert shown["export_date"] == time(DUE)


@pytest.mark.client_call("updateActionItem", "batchUpdateActionItems", "getActionItems")
def test_order_and_indentation_are_kept_each_alone_r1(phone):
    task = add_task(phone)
    change_task(phone, task, sort_order=3, indent_level=1)

    phone.send("PATCH", f"{TASKS}/batch", json={"items": [{"id": task["id"], "sort_order": 2000}]})

    (shown,) = list_tasks(phone)
    assert (shown["sort_order"], shown["indent_level"]) == (2000, 1)


@pytest.mark.client_call("updateActionItem", "getActionItems")
def test_lists_are_filtered_as_asked_r1(phone):
    done = change_task(phone, add_task(phone, "Done"), completed=True)
    of_talk = add_task(phone, "Of a conversation", conversation_id="talk")

    assert [t["id"] for t in list_tasks(phone, completed="true")] == [done["id"]]
    assert [t["id"] for t in list_tasks(phone, completed="false")] == [of_talk["id"]]
    assert [t["id"] for t in list_tasks(phone, conversation_id="talk")] == [of_talk["id"]]
    started = {"start_date": "2020-01-01T00:00:00.000Z", "end_date": "2021-01-01T00:00:00.000Z"}
    assert list_tasks(phone, **started) == []
    older_screen = {"include_completed": "true", "start_date": "2020-01-01T00:00:00.000"}
    assert len(list_tasks(phone, **older_screen)) == 2


@pytest.mark.client_call("getActionItems")
def test_scrolling_reaches_every_task_once_r1(phone):
    ids = {add_task(phone, f"Oil lamp {n}")["id"] for n in range(103)}

    first = phone.get(TASKS, ACTION_ITEM_PAGE, limit=100, offset=0)
    rest = phone.get(TASKS, ACTION_ITEM_PAGE, limit=50, offset=100)

    assert (first["has_more"], rest["has_more"]) == (True, False)
    assert {task["id"] for task in (*first["action_items"], *rest["action_items"])} == ids


@pytest.mark.client_call("deleteActionItem", "getActionItems")
def test_a_deleted_task_is_gone_r1(phone):
    task = add_task(phone)

    phone.send("DELETE", f"{TASKS}/{task['id']}", status=204)

    assert list_tasks(phone) == []


@pytest.mark.client_call(
    "shareActionItems", "getSharedActionItems", "acceptSharedActionItems", "getActionItems"
)
def test_shared_tasks_are_read_without_signing_in_and_accepted_once_r1(phone, sign_up):
    task = add_task(phone, due_at=DUE)
    share = phone.send("POST", f"{TASKS}/share", SHARE, json={"task_ids": [task["id"]]})
    friend = sign_up()

    seen = phone.send(
        "GET", f"{TASKS}/shared/{share['token']}", SHARED_TASKS, headers={"Authorization": ""}
    )
    token = {"token": share["token"]}
    accepted = friend.send("POST", f"{TASKS}/accept", shape(count=integer), json=token)

    assert share["url"].endswith(share["token"])
    assert [t["description"] for t in seen["tasks"]] == ["Buy bread"]
    assert accepted == {"count": 1}
    assert [t["description"] for t in list_tasks(friend)] == ["Buy bread"]
    assert friend.refuse("POST", f"{TASKS}/accept", json=token)[0] == 409
    assert phone.refuse("POST", f"{TASKS}/accept", json=token)[0] == 400


@pytest.mark.client_call("getSharedActionItems", "acceptSharedActionItems")
@pytest.mark.parametrize("token", ["unknown", "x" * 43])
def test_a_link_that_is_none_says_so_r1(phone, token):
    assert phone.refuse("GET", f"{TASKS}/shared/{token}")[0] == 404
    assert phone.refuse("POST", f"{TASKS}/accept", json={"token": token})[0] == 404


@pytest.mark.client_call(
    "getTaskIntegrations",
    "saveTaskIntegration",
    "deleteTaskIntegration",
    "syncBatchUpdate",
    "getPendingSyncItems",
)
def test_reminders_on_the_phone_are_kept_in_step_r2(phone):
    waiting, exported = add_task(phone, "Waiting"), add_task(phone, "Exported")
    empty = phone.get("/v1/task-integrations", INTEGRATIONS)
    export = {"exported": True, "export_platform": "apple_reminders", "apple_reminder_id": "r-1"}

    phone.send("PUT", "/v1/task-integrations/apple_reminders", json={"connected": True})
    phone.send("PATCH", f"{TASKS}/sync-batch", json={"items": [{"id": exported["id"], **export}]})
    phone.send("PATCH", f"{TASKS}/sync-batch", json={"items": []})

    pending = phone.get(f"{TASKS}/pending-sync", PENDING_SYNC, platform="apple_reminders")
    assert [task["id"] for task in pending["pending_export"]] == [waiting["id"]]
    assert [task["id"] for task in pending["synced_items"]] == [exported["id"]]
    integrations = phone.get("/v1/task-integrations", INTEGRATIONS)
    assert empty == {"integrations": {}, "default_app": None}
    assert integrations["default_app"] == "apple_reminders"

    phone.send("DELETE", "/v1/task-integrations/apple_reminders")

    assert phone.get("/v1/task-integrations", INTEGRATIONS)["default_app"] is None


@pytest.mark.client_call("getActionItems")
def test_flags_of_a_page_are_flags_r1(phone):
    page = phone.get(TASKS, shape(action_items=some(ACTION_ITEM), has_more=flag), limit=1)

    assert page == {"action_items": [], "has_more": False}
