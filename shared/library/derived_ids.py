"""Names of what is derived: the same words of the same conversation always have the same id."""

import hashlib

from shared.domain.words import normalise


def build_derived_id(conversation_id: str, kind: str, text: str) -> str:
    """Hash, so that a repeated delivery writes the same document again instead of another one."""
    key = f"{conversation_id}\n{kind}\n{normalise(text)}"
    return hashlib.sha256(key.encode()).hexdigest()[:32]
