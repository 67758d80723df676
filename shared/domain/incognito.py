"""Incognito chats: nothing of them is ever stored; whatever belongs to one is known by its id."""

_MARK = "incognito-"
"""Stands in the id of an incognito chat, and of its messages and runs."""


def is_incognito(name: str) -> bool:
    """Tell whether a chat, a message or a run is incognito, by its id."""
    return _MARK in name


def name_incognito(name: str) -> str:
    return f"{_MARK}{name}"


def name_within(session_id: str, name: str) -> str:
    """Return the id under which a chat keeps something: marked if the chat is."""
    return name_incognito(name) if is_incognito(session_id) else name
