"""Library changes as they are stored with the answer that made them."""

from collections.abc import Sequence
from typing import Any

from shared.data.store.codec import dump, type_adapter
from shared.domain.chats.chat import Message
from shared.domain.chats.library_change import LibraryChange

METADATA_FIELD = "changes"


def load_changes(message: Message) -> list[LibraryChange]:
    """Return what an answer changed, in the order of its calls."""
    stored_changes = message.metadata.get(METADATA_FIELD, ())
    return [type_adapter(LibraryChange).validate_python(change) for change in stored_changes]


def dump_changes(changes: Sequence[LibraryChange]) -> list[dict[str, Any]]:
    return [dump(change) for change in changes]
