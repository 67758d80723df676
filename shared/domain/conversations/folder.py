"""Folder: a named place for conversations; the folders of a user in their order."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Self

from shared.domain.errors import Conflict, Invalid, NotFound
from shared.domain.ids import FolderId
from shared.domain.value import value

MAX_FOLDERS = 50
DEFAULT_COLOR = "#6B7280"
DELETION_MEMORY = timedelta(days=30)
"""For so long a repeated deletion is no error."""
MAX_DELETIONS = 100


@value
class Folder:
    """`color` is #RRGGBB, `icon` an emoji or a name. Folders that we made have no times until changed.

    Conversations of a deleted folder go to the default one. `category_mapping` is the category whose
    conversations are meant.
    """

    id: FolderId
    name: str
    description: str = ""
    color: str = DEFAULT_COLOR
    icon: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    is_default: bool = False
    is_system: bool = False
    category_mapping: str | None = None


@value
class DeletedFolder:
    """A folder that was deleted, and the one its conversations go to; `is_empty` once they are there."""

    id: FolderId
    moved_to: FolderId
    deleted_at: datetime
    is_empty: bool = False


SYSTEM_FOLDERS = (
    Folder(
        id=FolderId("personal"),
        name="Personal",
        description="Home, health, plans and what concerns only you",
        color="#8B5CF6",
        icon="🏠",
        is_default=True,
        is_system=True,
        category_mapping="personal",
    ),
    Folder(
        id=FolderId("work"),
        name="Work",
        description="Meetings, projects and colleagues",
        color="#3B82F6",
        icon="💼",
        is_system=True,
        category_mapping="work",
    ),
    Folder(
        id=FolderId("social"),
        name="Social",
        description="Friends, family and going out",
        color="#10B981",
        icon="💬",
        is_system=True,
        category_mapping="social",
    ),
)


@value
class FolderList:
    """The folders of a user, in their order, and those deleted lately."""

    folders: tuple[Folder, ...] = SYSTEM_FOLDERS
    deleted: tuple[DeletedFolder, ...] = ()

    def get(self, folder_id: str) -> Folder:
        """Raises NotFound."""
        for folder in self.folders:
            if folder.id == folder_id:
                return folder
        raise NotFound("Folder not found")

    def resolve(self, folder_id: FolderId | None) -> FolderId | None:
        """Return the folder that a conversation is in now: deleted ones lead to others."""
        moves = {deleted.id: deleted.moved_to for deleted in self.deleted}
        for _ in self.deleted:
            if folder_id not in moves:
                break
            folder_id = moves[folder_id]
        return folder_id

    def list_contributing(self, folder_id: FolderId) -> set[FolderId]:
        """Return the folders, deleted ones among them, whose conversations are in this one now."""
        candidates = {folder_id, *(deleted.id for deleted in self.deleted)}
        return {name for name in candidates if self.resolve(name) == folder_id}

    def list_unemptied(self) -> list[FolderId]:
        return [deleted.id for deleted in self.deleted if not deleted.is_empty]

    def add(self, folder: Folder) -> Self:
        """Raises Conflict for one folder too many."""
        if len(self.folders) >= MAX_FOLDERS:
            raise Conflict(f"You may have {MAX_FOLDERS} folders; delete one first.")
        return replace(self, folders=(*self.folders, folder))

    def restore(self, folders: Sequence[Folder]) -> Self:
        """Take over folders of an export: all where the user changed none, else those not there yet."""
        is_whole = sum(folder.is_default for folder in folders) == 1
        if self == type(self)() and is_whole:
            return replace(self, folders=tuple(folders))
        taken = {*(folder.id for folder in self.folders), *(deleted.id for deleted in self.deleted)}
        new = [replace(f, is_default=False) for f in folders if f.id not in taken]
        return replace(self, folders=(*self.folders, *new)[:MAX_FOLDERS])

    def find_equal(self, folder: Folder) -> Folder | None:
        """Return the folder of the user that shows the same: a repeated request is meant for it."""
        shown = _list_shown(folder)
        equal = [f for f in self.folders if not f.is_system and _list_shown(f) == shown]
        return equal[0] if equal else None

    def change(
        self, folder_id: str, changes: Mapping[str, Any], *, order: int | None, now: datetime
    ) -> Self:
        """Change fields of a folder, and its place if one is given. Raises NotFound."""
        folder = self.get(folder_id)
        changed = replace(folder, **changes, updated_at=now)
        folders = [changed if other is folder else other for other in self.folders]
        if order is not None:
            folders.remove(changed)
            folders.insert(order, changed)
        return replace(self, folders=tuple(folders))

    def reorder(self, folder_ids: Sequence[str]) -> Self:
        """Put folders into this order; those it does not name follow. Raises NotFound."""
        named = [self.get(folder_id) for folder_id in dict.fromkeys(folder_ids)]
        others = [folder for folder in self.folders if folder not in named]
        return replace(self, folders=(*named, *others))

    def delete(self, folder_id: str, moved_to: str | None, now: datetime) -> Self:
        """Delete a folder; a repeat changes nothing. Raises NotFound, Invalid and Conflict."""
        if any(deleted.id == folder_id for deleted in self.deleted):
            return self
        folder = self.get(folder_id)
        if folder.is_default:
            raise Conflict("The default folder cannot be deleted")
        if moved_to == folder_id:
            raise Invalid("The conversations must move to another folder.")
        target = self.get(moved_to) if moved_to else self._find_default()
        deletion = DeletedFolder(id=folder.id, moved_to=target.id, deleted_at=now)
        return replace(
            self,
            folders=tuple(other for other in self.folders if other is not folder),
            deleted=(*self._list_remembered(now), deletion),
        )

    def mark_empty(self, folder_id: FolderId) -> Self:
        deleted = (replace(d, is_empty=True) if d.id == folder_id else d for d in self.deleted)
        return replace(self, deleted=tuple(deleted))

    def _find_default(self) -> Folder:
        return next(folder for folder in self.folders if folder.is_default)

    def _list_remembered(self, now: datetime) -> list[DeletedFolder]:
        """Forget old deletions, but none whose conversations are not moved yet."""
        oldest = now - DELETION_MEMORY
        unemptied = [d for d in self.deleted if not d.is_empty]
        emptied = [d for d in self.deleted if d.is_empty and d.deleted_at > oldest]
        return [*emptied[-MAX_DELETIONS:], *unemptied]


def _list_shown(folder: Folder) -> list[str]:
    return [folder.name, folder.description, folder.color, folder.icon]
