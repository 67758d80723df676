"""Private chats: what an incognito or a sealed chat cannot take.

What stands in clear elsewhere, such as a file, is refused in both: with it, what is asked could be told.
"""

from collections.abc import Mapping
from typing import Literal

from shared.domain.chats.storage_mode import StorageMode
from shared.domain.errors import Invalid

Companion = Literal["files", "project", "app", "agent", "title", "star", "speech"]
NO_FILES = "A private chat takes no files, because a file is stored. Ask about it in another chat."
NO_PROJECT = "A private chat belongs to no project, because its files are stored."
SEALED_ALONE = "A sealed chat has no app and no agent."
SEALED_FIELDS = (
    "The title and the messages of a sealed chat are changed as ciphertexts: "
    "PUT /v2/chat-sessions/{id}/ciphertexts."
)
SEALED_SILENT = "A sealed chat cannot be spoken in. Begin another chat to speak."
_REFUSALS: Mapping[Companion, Mapping[StorageMode, str]] = {
    "files": {"incognito": NO_FILES, "client_encrypted": NO_FILES},
    "project": {"incognito": NO_PROJECT, "client_encrypted": NO_PROJECT},
    "app": {"client_encrypted": SEALED_ALONE},
    "agent": {"client_encrypted": SEALED_ALONE},
    "title": {"client_encrypted": SEALED_FIELDS},
    "star": {"client_encrypted": SEALED_FIELDS},
    "speech": {"client_encrypted": SEALED_SILENT},
}


def check_companions(mode: StorageMode, brought: Mapping[Companion, object]) -> None:
    """Raise Invalid for what a chat of this mode cannot take; what is empty or None was not brought."""
    for companion, what in brought.items():
        refusal = _REFUSALS[companion].get(mode)
        if refusal and what:
            raise Invalid(refusal)
