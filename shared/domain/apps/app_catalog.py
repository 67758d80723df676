"""Catalog of apps: the categories and capabilities among which developers and users choose."""

from collections.abc import Mapping, Sequence
from typing import Literal

from shared.domain.value import value

CATEGORIES: Mapping[str, str] = {
    "conversation-analysis": "Conversation Analysis",
    "personality-emulation": "Personality Clone",
    "health-and-wellness": "Health",
    "education-and-learning": "Education",
    "communication-improvement": "Communication",
    "emotional-and-mental-support": "Emotional Support",
    "productivity-and-organization": "Productivity",
    "entertainment-and-fun": "Entertainment",
    "financial": "Financial",
    "travel-and-exploration": "Travel",
    "safety-and-security": "Safety",
    "shopping-and-commerce": "Shopping",
    "social-and-relationships": "Social",
    "news-and-information": "News",
    "utilities-and-tools": "Utilities",
    "other": "Other",
}
"""Titles by id; the order is that of a page."""
DEFAULT_CATEGORY = "other"
PROACTIVE_CAPABILITY = "proactive_notification"
POPULAR = "popular"
"""A section beside the capabilities: the apps that most users have installed."""
SortOrder = Literal[
    "rating_desc", "rating_asc", "name_asc", "name_desc", "installs_desc", "created_desc"
]


@value
class Choice:
    """Something that a developer's form offers."""

    id: str
    title: str
    description: str | None = None


@value
class Capability:
    """A capability, and what an app that has it chooses further."""

    id: str
    title: str
    triggers: Sequence[Choice] = ()
    scopes: Sequence[Choice] = ()
    actions: Sequence[Choice] = ()


CAPABILITIES: Sequence[Capability] = (
    Capability(
        id="external_integration",
        title="Integration",
        triggers=(
            Choice(id="memory_creation", title="Conversation Creation"),
            Choice(id="conversation_updated", title="Conversation Changes"),
            Choice(id="transcript_processed", title="Live Transcript"),
            Choice(id="audio_bytes", title="Live Audio"),
        ),
        actions=(
            Choice(id="create_conversation", title="Create conversations"),
            Choice(id="create_facts", title="Create memories"),
            Choice(id="read_conversations", title="Read conversations"),
            Choice(id="read_memories", title="Read memories"),
            Choice(id="read_tasks", title="Read tasks"),
        ),
    ),
    Capability(id="chat", title="Chat"),
    Capability(id="memories", title="Summaries"),
    Capability(
        id=PROACTIVE_CAPABILITY,
        title="Notifications",
        scopes=(
            Choice(id="user_name", title="User Name"),
            Choice(id="user_facts", title="User Facts"),
            Choice(id="user_context", title="User Conversations"),
            Choice(id="user_chat", title="User Chat"),
        ),
    ),
)
"""What the form offers."""

TRIGGERS = frozenset(trigger.id for capability in CAPABILITIES for trigger in capability.triggers)

SECTIONS: Mapping[str, str] = {
    POPULAR: "Popular",
    **{capability.id: capability.title for capability in CAPABILITIES},
    "persona": "Personas",
}
"""Titles of the sections of apps, by what an app must have."""
