"""Chat notes: what one model call after an answer writes down about it, and about its chat so far."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from shared.domain.ids import BranchId, MemoryId, MessageId
from shared.domain.provenance import TextKinds
from shared.domain.value import value

Category = Literal[
    "general",
    "software",
    "science",
    "medicine",
    "law",
    "finance",
    "business",
    "marketing",
    "design",
    "making",
    "cooking",
    "history",
    "culture",
    "travel",
    "learning",
    "society",
    "wellbeing",
]
"""What a chat is about, the same words in every language."""
TopicShift = Literal["same_topic", "noticeable_shift", "unclear"]
DEFAULT_LANGUAGE = "en"
MAX_SUMMARY_CHARS = 600
MAX_TAGS = 10
MAX_TAG_CHARS = 40
MAX_ICONS = 3
ActionTool = Literal["remember", "update_memory", "delete_memory", "change_profile"]


MAX_ACTIONS = 3
"""Beside an answer."""


@value
class SuggestedAction:
    """A change of the owner's memories or settings that they can make with a click.

    `entry_id` is the memory it changes; a new one has none. `arguments` are those of the route that
    makes the change.
    """

    tool: ActionTool
    arguments: Mapping[str, Any]
    entry_id: MemoryId | None = None


@value
class AnswerNotes:
    """What is noted about one answer.

    `follow_ups` are questions that its owner may ask next, in the language of the chat; `next_steps`
    are those for an answer that holds code. `new_categories` are kinds of memories that the owner has
    none of yet and that would have helped.
    """

    follow_ups: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    actions: tuple[SuggestedAction, ...] = ()
    new_categories: tuple[str, ...] = ()


@value
class ChatNotes:
    """What is noted about a chat, up to the answer at `noted_until` in `noted_branch`; None before its first one.

    `summary` is for people and other chats, of two or three sentences, and holds no details of memories
    or settings, and neither do `tags`. `icons` are names of the Lucide library. `category` is kept
    until the topic clearly shifts. `new_chats` are questions with which the owner may begin another chat, in the
    language of their profile. `needs_project_overview`: the last request was about software whose
    project the assistant should know. `read_kinds` are the kinds of text of others that had been read when they were
    written; None where nobody knows.
    """

    summary: str = ""
    tags: tuple[str, ...] = ()
    icons: tuple[str, ...] = ()
    category: Category = "general"
    language: str = DEFAULT_LANGUAGE
    topic_shift: TopicShift = "unclear"
    needs_project_overview: bool = False
    new_chats: tuple[str, ...] = ()
    noted_until: tuple[datetime, MessageId] | None = None
    noted_branch: BranchId = BranchId("")
    read_kinds: TextKinds | None = None
