"""Folders of a user: order, limits and deletions."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversations.folder import DELETION_MEMORY, MAX_FOLDERS, Folder, FolderList
from shared.domain.errors import Conflict, Invalid, NotFound
from shared.domain.ids import FolderId

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SYSTEM_IDS = ["personal", "work", "social"]


def build_folder(name: str) -> Folder:
    return Folder(id=FolderId(name), name=name)


def build_list(*names: str) -> FolderList:
    folders = FolderList()
    for name in names:
        folders = folders.add(build_folder(name))
    return folders


def list_ids(folders: FolderList) -> list[str]:
    return [folder.id for folder in folders.folders]


def test_everybody_begins_with_the_same_folders_of_which_one_is_the_default():
    folders = FolderList()

    assert list_ids(folders) == SYSTEM_IDS
    assert [folder.is_default for folder in folders.folders] == [True, False, False]
    assert all(folder.is_system for folder in folders.folders)
    assert [folder.category_mapping for folder in folders.folders] == SYSTEM_IDS


def test_folders_have_a_limit():
    folders = build_list(*(f"f{n}" for n in range(MAX_FOLDERS - len(SYSTEM_IDS))))

    with pytest.raises(Conflict, match="You may have 50 folders"):
        folders.add(build_folder("one too many"))


@given(st.permutations(["personal", "work", "social", "a", "b"]), st.integers(0, 5))
def test_every_order_is_kept_and_what_is_not_named_follows(ids, named_count):
    folders = build_list("a", "b").reorder(ids[:named_count])

    assert list_ids(folders)[:named_count] == ids[:named_count]
    rest = [name for name in [*SYSTEM_IDS, "a", "b"] if name not in ids[:named_count]]
    assert list_ids(folders)[named_count:] == rest


def test_an_unknown_folder_cannot_be_put_in_order():
    with pytest.raises(NotFound):
        build_list("a").reorder(["a", "unknown"])


@pytest.mark.parametrize(
    ("order", "expected_ids"),
    [
        (0, ["a", "personal", "work", "social"]),
        (2, ["personal", "work", "a", "social"]),
        (99, ["personal", "work", "social", "a"]),
        (None, ["personal", "work", "social", "a"]),
    ],
)
def test_a_folder_is_changed_and_put_in_its_place(order, expected_ids):
    folders = build_list("a").change("a", {"name": "Travel"}, order=order, now=NOON)

    assert list_ids(folders) == expected_ids
    assert folders.get("a") == replace(build_folder("a"), name="Travel", updated_at=NOON)


def test_conversations_of_a_deleted_folder_belong_to_another():
    folders = build_list("a", "b").delete("a", "b", NOON)
    later = folders.delete("b", None, NOON)

    assert list_ids(folders) == [*SYSTEM_IDS, "b"]
    assert (folders.resolve(FolderId("a")), later.resolve(FolderId("a"))) == ("b", "personal")
    assert (folders.resolve(FolderId("work")), folders.resolve(None)) == ("work", None)
    assert later.list_unemptied() == ["a", "b"]
    assert later.mark_empty(FolderId("a")).list_unemptied() == ["b"]


def test_a_repeated_deletion_changes_nothing():
    folders = build_list("a").delete("a", None, NOON)

    assert folders.delete("a", "work", NOON + timedelta(hours=1)) == folders


@pytest.mark.parametrize(
    ("folder_id", "moved_to", "error"),
    [
        ("unknown", None, NotFound),
        ("a", "unknown", NotFound),
        ("a", "a", Invalid),
        ("personal", "a", Conflict),
    ],
)
def test_an_impossible_deletion_is_refused(folder_id, moved_to, error):
    with pytest.raises(error):
        build_list("a").delete(folder_id, moved_to, NOON)


def test_old_deletions_are_forgotten_once_their_folders_are_empty():
    folders = build_list("a", "b", "c").delete("a", None, NOON).delete("b", None, NOON)
    folders = folders.mark_empty(FolderId("a"))

    later = folders.delete("c", None, NOON + DELETION_MEMORY)

    assert later.list_unemptied() == ["b", "c"]
    assert [deleted.id for deleted in later.deleted] == ["b", "c"]


def test_the_same_folder_again_is_the_one_there_is():
    folders = build_list("Home")

    assert folders.find_equal(replace(build_folder("Home"), id=FolderId("x"))) == folders.get(
        "Home"
    )
    assert folders.find_equal(Folder(id=FolderId("x"), name="Home", color="#000000")) is None
    system_copy = replace(folders.get("work"), id=FolderId("x"), is_system=False)
    assert folders.find_equal(system_copy) is None
