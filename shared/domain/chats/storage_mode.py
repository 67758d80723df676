"""Storage modes of chats: what is stored of a chat is decided when it begins, and known by its id.

Of a `managed` chat everything is stored, of an `incognito` one nothing. Of a `client_encrypted` one, a
sealed chat, only what its clients encrypted lasts; what the server reads itself expires.
"""

from typing import Literal

StorageMode = Literal["managed", "incognito", "client_encrypted"]
_INCOGNITO = "incognito-"
_SEALED = "sealed-"
"""Marks in the id of a chat, and in those of its messages and runs."""


def find_storage_mode(name: str) -> StorageMode:
    """Return the mode of a chat, a message or a run, by its id."""
    if _INCOGNITO in name:
        return "incognito"
    return "client_encrypted" if _SEALED in name else "managed"


def is_incognito(name: str) -> bool:
    return find_storage_mode(name) == "incognito"


def is_sealed(name: str) -> bool:
    return find_storage_mode(name) == "client_encrypted"


def is_private(name: str) -> bool:
    """Tell whether nothing that a chat holds may be stored in clear, or derived from it."""
    return find_storage_mode(name) != "managed"


def name_chat(name: str, mode: StorageMode) -> str:
    """Return the id of a new chat."""
    match mode:
        case "managed":
            return name
        case "incognito":
            return f"{_INCOGNITO}{name}"
        case "client_encrypted":
            return f"{_SEALED}{name}"


def name_within(session_id: str, name: str) -> str:
    """Return the id under which a chat keeps something; that of a sealed chat tells which chat."""
    if is_sealed(session_id):
        return f"{session_id}-{name}"
    return name_chat(name, find_storage_mode(session_id))


def belongs_to(session_id: str, name: str) -> bool:
    """Tell whether an id was made by name_within() for this sealed chat."""
    return is_sealed(session_id) and name.startswith(f"{session_id}-")
