"""Drafts: what a reader is given, and what it finds in it, before that has ids and zones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from shared.domain.value import value

OWNER_NAMES = frozenset({"me", "you"})
"""The names that recorders give to their owner, in lower case."""
SILENT = "nobody says anything in it"
"""Why a conversation without words is left out."""
SECONDS_PER_WORD = 0.4
"""The usual length of speech, for texts without times."""


@value
class TextFile:
    """A file to read; `content` is what it holds as JSON, None where it is none."""

    name: str
    text: str
    content: Any = None

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem


@value
class Turn:
    """What one speaker said without a break; `start` and `end` in seconds from the beginning.

    `speaker` is empty where the file names nobody.
    """

    text: str
    speaker: str = ""
    start: float | None = None
    end: float | None = None
    is_user: bool = False


@value
class Draft:
    """A conversation of a file. A time without zone is local to whoever made the file.

    `fields` are further fields of the conversation, as the file has them.
    """

    turns: Sequence[Turn]
    title: str = ""
    started_at: datetime | None = None
    fields: dict[str, Any] = field(default_factory=dict)


@value
class LeftOut:
    """A conversation of a file that cannot be kept, or text of it that is not read, and why.

    `words` counts the text; it is 0 for a conversation.
    """

    title: str
    reason: str
    words: int = 0


@value
class Contents:
    """Everything that a file holds; beside conversations the fields of records as exported.

    `restored` are conversations of our own export, `records` what else it holds, by kind, and `left`
    names what of it is not brought back, with reasons. `is_recognised` is false for text that is neither in a layout that we know, nor prose.
    `are_notes`: the day that they name may be one to come, when nothing was said yet.
    """

    conversations: Sequence[Draft] = ()
    memories: Sequence[dict[str, Any]] = ()
    action_items: Sequence[dict[str, Any]] = ()
    people: Sequence[dict[str, Any]] = ()
    restored: Sequence[dict[str, Any]] = ()
    records: Mapping[str, Sequence[dict[str, Any]]] = field(default_factory=dict)
    left: Mapping[str, str] = field(default_factory=dict)
    left_out: Sequence[LeftOut] = ()
    is_recognised: bool = True
    are_notes: bool = False


def is_owner_name(name: str) -> bool:
    return name.casefold() in OWNER_NAMES


def join_contents(contents: Iterable[Contents]) -> Contents:
    """Return what several parts hold as one."""
    everything = list(contents)
    return Contents(
        conversations=[draft for c in everything for draft in c.conversations],
        memories=[record for c in everything for record in c.memories],
        action_items=[record for c in everything for record in c.action_items],
        people=[record for c in everything for record in c.people],
        restored=[item for c in everything for item in c.restored],
        records=_join_records(c.records for c in everything),
        left={name: reason for c in everything for name, reason in c.left.items()},
        left_out=[left for c in everything for left in c.left_out],
    )


def _join_records(
    parts: Iterable[Mapping[str, Sequence[Mapping[str, Any]]]],
) -> dict[str, list[dict[str, Any]]]:
    joined: dict[str, list[dict[str, Any]]] = {}
    for records in parts:
        for kind, found in records.items():
            joined.setdefault(kind, []).extend(map(dict, found))
    return joined
