"""Overview of a project: the names of its files, for a request about software that needs to know it; pure."""

import json
from collections.abc import Sequence

from functions.chat.context.blocks import FileNote
from shared.domain.provenance import LIBRARY
from shared.security.fencing import fence_untrusted

MAX_NAMED = 50
MAX_NAME_CHARS = 120
NO_PROJECT = (
    "The request may need to know a whole project, and this chat belongs to none: where the answer depends on "
    "code that you have not seen, say which files you need, and that the chat can be put into a project with them."
)


def describe_project(files: Sequence[FileNote]) -> str:
    """Name the files of a chat's project as fenced data, or say that there are none."""
    if not files:
        return NO_PROJECT
    named = [
        {"file": file.name[:MAX_NAME_CHARS], "chars": file.chars} for file in files[:MAX_NAMED]
    ]
    listed = fence_untrusted(json.dumps(named, ensure_ascii=False), LIBRARY)
    rest = f" and {len(files) - MAX_NAMED} more" if len(files) > MAX_NAMED else ""
    return (
        "The request may need to know the whole project: look at it before you go into details. Its files:\n"
        f"{listed}{rest}"
    )
