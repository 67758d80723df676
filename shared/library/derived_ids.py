"""Derived ids: the same text of the same conversation always has the same id."""

import hashlib

from shared.domain.words import normalise


def build_derived_id(conversation_id: str, kind: str, text: str) -> str:
    """Hash the normal form: a redelivery writes the same document again and not a second one."""
    key = f"{conversation_id}\n{kind}\n{normalise(text)}"
    return hashlib.sha256(key.encode()).hexdigest()[:32]
