"""Archived chats: what files of an export tell of the chats beside them, such as who is who and how a chat is called."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import PurePosixPath

from functions.imports.formats.json_fields import find_text
from functions.imports.formats.json_text import open_text
from functions.imports.formats.slack import CHANNELS_FILE, PEOPLE_FILE, read_people
from shared.domain.value import value
from shared.library.decoding import UnreadableFile, decode

NAMING_FILES = frozenset({"group_info.json", "channel.json"})
"""The files of Google Chat and of Discord that name the chat in whose folder they stand."""
OWNER_FILE = "user_info.json"
"""A file of Google Chat about whom the export belongs to."""


@value
class Surroundings:
    """`people` of Slack by id, and `titles` of chats by folder; `passed_over` are files that hold no chat."""

    people: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    passed_over: frozenset[str] = frozenset()


def read_surroundings(files: Iterable[tuple[str, Callable[[], bytes]]]) -> Surroundings:
    """Read what the files of an archive tell of the others."""
    people: dict[str, str] = {}
    titles: dict[str, str] = {}
    passed_over: set[str] = set()
    listed: dict[str, set[str]] = {}
    for path, unpack in files:
        name = PurePosixPath(path).name
        listed.setdefault(str(PurePosixPath(path).parent), set()).add(name)
        with suppress(UnreadableFile):
            if name == PEOPLE_FILE and not people:
                people = read_people(open_text(path, decode(unpack())).content)
            elif name in NAMING_FILES:
                content = open_text(path, decode(unpack())).content
                fields = content if isinstance(content, dict) else {}
                titles[str(PurePosixPath(path).parent)] = find_text(fields, ("name",)) or ""
    slack_lists = (names for names in listed.values() if {PEOPLE_FILE, CHANNELS_FILE} <= names)
    passed_over |= {name for names in slack_lists for name in names} | (
        {PEOPLE_FILE} if people else set()
    )
    if titles:
        passed_over |= {*NAMING_FILES, OWNER_FILE}
    return Surroundings(people=people, titles=titles, passed_over=frozenset(passed_over))
