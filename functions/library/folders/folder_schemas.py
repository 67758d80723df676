"""Schemas of folders: what their owner sends and reads; all times in UTC."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from shared.domain.conversations.folder import DEFAULT_COLOR, MAX_FOLDERS, Folder
from shared.edge.declare.schemas import COLOR_PATTERN, Wire
from shared.library.conversation_schemas import Label, Utc

MAX_MOVED = 500
"""Conversations that one request moves."""
MAX_ORDER_BYTES = 32_768
MAX_MOVE_BYTES = 131_072

FolderName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
FolderText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]
Color = Annotated[str, Field(pattern=COLOR_PATTERN)]
Reference = Annotated[str, Field(max_length=64)]
"""An id as a client names it; what is none is not found."""


class FolderIn(Wire):
    """A folder. One that shows the same as another of the owner's is that one."""

    name: FolderName
    description: FolderText | None = None
    color: Color | None = None
    icon: Label | None = None

    def to_folder(self, **fields: Any) -> Folder:
        return Folder(
            name=self.name,
            description=self.description or "",
            color=self.color or DEFAULT_COLOR,
            icon=self.icon or "",
            **fields,
        )


class FolderChangeIn(Wire):
    """Omitted fields and nulls keep their value. `order` is a place in the list, from 0."""

    name: FolderName | None = None
    description: FolderText | None = None
    color: Color | None = None
    icon: Label | None = None
    order: Annotated[int, Field(ge=0, le=1_000)] | None = None


class FolderOut(Wire):
    id: str
    name: str
    description: str
    color: str
    icon: str
    created_at: Utc | None
    updated_at: Utc | None
    order: int
    is_default: bool
    is_system: bool
    category_mapping: str | None
    conversation_count: int

    @classmethod
    def of(cls, folder: Folder, *, order: int, conversation_count: int) -> "FolderOut":
        stored = {name: getattr(folder, name) for name in cls.model_fields if hasattr(folder, name)}
        return cls(**stored, order=order, conversation_count=conversation_count)


class FolderDeletionQuery(Wire):
    """The folder that takes the conversations; without it, the default one."""

    move_to_folder_id: Reference | None = None


class FolderOrderIn(Wire):
    """All folders in their new order; what is left out follows."""

    folder_ids: Annotated[list[Reference], Field(max_length=2 * MAX_FOLDERS)]


class ConversationFolderIn(Wire):
    """The folder of a conversation; null takes it out."""

    folder_id: Reference | None


class BulkMoveIn(Wire):
    conversation_ids: Annotated[list[Reference], Field(max_length=MAX_MOVED)]


class BulkMoveOut(Wire):
    """How many of the conversations exist, and are in the folder now."""

    moved_count: int
