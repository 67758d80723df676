"""Folder calls of the released app (R1)."""

from typing import Any

import pytest

from tests.contracts.omi_client.objects import CONVERSATION, FOLDER
from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.readers import each, integer, shape

FOLDERS = "/v1/folders"


def list_folders(phone: Phone) -> dict[str, dict[str, Any]]:
    return {folder["id"]: folder for folder in phone.get(FOLDERS, each(FOLDER))}


def add_folder(phone: Phone, name: str, **fields: Any) -> str:
    folder_id: str = phone.send("POST", FOLDERS, FOLDER, json={"name": name, **fields})["id"]
    return folder_id


def list_inside(phone: Phone, folder_id: str) -> set[str]:
    query = {"include_discarded": "false", "limit": 50, "offset": 0, "statuses": ""}
    listed = phone.get("/v1/conversations", each(CONVERSATION), **query, folder_id=folder_id)
    return {conversation["id"] for conversation in listed}


def move(phone: Phone, conversation_id: str, folder_id: str | None) -> None:
    path = f"/v1/conversations/{conversation_id}/folder"
    phone.send("PATCH", path, json={"folder_id": folder_id})


@pytest.mark.client_call("getFolders")
def test_everybody_has_system_folders_one_of_them_the_default_r1(phone):
    folders = list_folders(phone).values()

    assert all(folder["is_system"] for folder in folders)
    assert [folder["is_default"] for folder in folders].count(True) == 1
    assert [folder["order"] for folder in folders] == list(range(len(folders)))


@pytest.mark.client_call("updateFolderApi", "createFolderApi")
def test_a_folder_keeps_what_was_sent_and_is_changed_in_part_r1(phone):
    sent = {"description": "Offsites", "color": "#3B82F6", "icon": "💼"}
    folder_id = add_folder(phone, "Work", **sent)

    changed = phone.send("PATCH", f"{FOLDERS}/{folder_id}", FOLDER, json={"name": "Travel"})

    assert changed == list_folders(phone)[folder_id]
    assert {name: changed[name] for name in sent} == sent
    assert changed["name"] == "Travel"


@pytest.mark.client_call("moveConversationToFolderApi", "bulkMoveConversationsToFolderApi")
def test_counts_follow_every_move_r1(phone):
    first, second = (phone.add_conversation()["id"] for _ in range(2))
    folder_id = add_folder(phone, "Travel")

    move(phone, first, folder_id)
    assert list_folders(phone)[folder_id]["conversation_count"] == 1
    path, body = f"{FOLDERS}/{folder_id}/conversations/bulk-move", {"conversation_ids": [second]}
    moved = phone.send("POST", path, shape(moved_count=integer), json=body)
    move(phone, first, None)

    assert moved == {"moved_count": 1}
    assert list_folders(phone)[folder_id]["conversation_count"] == 1
    assert list_inside(phone, folder_id) == {second}
    shown = phone.get(f"/v1/conversations/{first}", CONVERSATION)
    assert shown["folder_id"] is None


@pytest.mark.client_call("reorderFoldersApi")
def test_the_order_of_folders_is_kept_r1(phone):
    ids = [add_folder(phone, "Travel"), *list_folders(phone)]
    wanted = list(dict.fromkeys(ids))

    phone.send("POST", f"{FOLDERS}/reorder", json={"folder_ids": wanted})

    assert list(list_folders(phone)) == wanted


@pytest.mark.client_call("moveConversationToFolderApi", "deleteFolderApi")
@pytest.mark.parametrize("names_target", [True, False])
def test_conversations_of_a_deleted_folder_move_on_r1(phone, names_target):
    conversation_id = phone.add_conversation()["id"]
    folder_id, other_id = add_folder(phone, "Travel"), add_folder(phone, "Home")
    default_id = next(f["id"] for f in list_folders(phone).values() if f["is_default"])
    move(phone, conversation_id, folder_id)

    query = {"move_to_folder_id": other_id} if names_target else {}
    phone.send("DELETE", f"{FOLDERS}/{folder_id}", status=204, params=query)

    target_id = other_id if names_target else default_id
    assert folder_id not in list_folders(phone)
    assert list_inside(phone, target_id) == {conversation_id}
    assert list_folders(phone)[target_id]["conversation_count"] == 1


@pytest.mark.client_call("deleteFolderApi", "updateFolderApi")
def test_refusals_say_why_r1(phone):
    default_id = next(f["id"] for f in list_folders(phone).values() if f["is_default"])

    assert phone.refuse("DELETE", f"{FOLDERS}/{default_id}") == (
        409,
        "The default folder cannot be deleted",
    )
    assert phone.refuse("PATCH", f"{FOLDERS}/unknown", json={"name": "x"})[0] == 404
