"""A message that nobody could handle: what it was about, and nothing of what it said."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from shared.domain.ids import is_id
from shared.domain.value import value

Kind = Literal["event", "task", "trigger"]
Ids = Mapping[str, str | int | None]


@value
class DeadLetter:
    """`name` is the topic, the task's name or the document's path; times in UTC.

    `ids` is the message as far as it consists of ids, numbers and hashes: enough to send it again.
    """

    id: str
    kind: Kind
    name: str
    target: str
    ids: Ids
    reason: str
    attempts: int
    first_at: datetime
    last_at: datetime


def letter_id(kind: Kind, name: str, target: str, ids: Ids) -> str:
    """Hash, so that the same message has one letter, however often it dies."""
    said = json.dumps([kind, name, target, dict(ids)], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:20]


def ids_of(message: Mapping[str, Any]) -> Ids:
    """Leave out whatever could be content."""
    return {name: found for name, found in message.items() if is_id(name) and _is_bare(found)}


def _is_bare(found: object) -> bool:
    return found is None or isinstance(found, int) or (isinstance(found, str) and is_id(found))
