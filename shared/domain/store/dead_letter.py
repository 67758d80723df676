"""Dead letter: a message that was given up, as ids and a reason, without content."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from shared.domain.ids import UserId, is_id
from shared.domain.value import value

Kind = Literal["event", "task", "trigger"]
Ids = Mapping[str, str | int | None]


@value
class DeadLetter:
    """A message that was given up.

    `name` is the topic, the task's name or the document's path; times in UTC. `ids` are the ids,
    numbers and hashes of the message: enough to send it again.
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

    @property
    def uid(self) -> UserId | None:
        """The user whom its message names, or whose document changed."""
        folder, _, rest = self.name.partition("/")
        owner = rest.partition("/")[0] if folder == "users" else ""
        return UserId(str(self.ids.get("uid") or owner)) or None


def build_dead_letter_id(kind: Kind, name: str, target: str, ids: Ids) -> str:
    """Build the id from the message, so that a repeated failure has one letter."""
    canonical_json = json.dumps([kind, name, target, dict(ids)], sort_keys=True)
    return hashlib.sha256(canonical_json.encode()).hexdigest()[:20]


def extract_ids(message: Mapping[str, Any]) -> Ids:
    """Select the ids, and drop everything that could be content."""
    return {
        name: field_value
        for name, field_value in message.items()
        if is_id(name) and _is_content_free(field_value)
    }


def _is_content_free(field_value: object) -> bool:
    return (
        field_value is None
        or isinstance(field_value, int)
        or (isinstance(field_value, str) and is_id(field_value))
    )
