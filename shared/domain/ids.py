"""Identifiers as types, and the form of ids that clients may choose."""

import re
from typing import NewType

UserId = NewType("UserId", str)
ConversationId = NewType("ConversationId", str)
MemoryId = NewType("MemoryId", str)
PersonId = NewType("PersonId", str)
ActionItemId = NewType("ActionItemId", str)
GoalId = NewType("GoalId", str)
MessageId = NewType("MessageId", str)
SessionId = NewType("SessionId", str)
RunId = NewType("RunId", str)
"""A run's id is the id of the AI message it writes."""
BranchId = NewType("BranchId", str)
"""A branch's id is the id of the run that begins it."""
AppId = NewType("AppId", str)
FileId = NewType("FileId", str)
"""A file has the id of the upload that it was."""
FolderId = NewType("FolderId", str)
ArcId = NewType("ArcId", str)
RuleId = NewType("RuleId", str)
FocusModeId = NewType("FocusModeId", str)
AgentId = NewType("AgentId", str)
ProjectId = NewType("ProjectId", str)
EmbedId = NewType("EmbedId", str)

_ID = re.compile(r"(?!__.*__$)[A-Za-z0-9_-]{1,64}")


def is_id(text: str) -> bool:
    """Tell whether a client may choose this id; it then stands safely in a path and a vector id.

    Firestore keeps names like `__this__` for itself.
    """
    return _ID.fullmatch(text) is not None
