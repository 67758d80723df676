"""Restored records: what our own export holds beside conversations, as it was; pure.

Whoever made the file may have written anything into it. What is taken has the bounds of other writers,
and nothing of it decides, deletes or sends: NOT_TAKEN and NOT_TAKEN_SETTINGS say what stays behind, and why.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from functions.imports.formats.restored_conversations import count_json_bytes
from functions.imports.formats.restored_ids import check_ids
from shared.data.chats.answer_changes import METADATA_FIELD
from shared.data.store.codec import dump, type_adapter
from shared.domain.account.profile import Profile
from shared.domain.amounts import describe_bytes
from shared.domain.apps.apple_health import AppleHealth
from shared.domain.chats.chat import LISTED_KEY, QUESTION_KEY, ROOT, Message, Session
from shared.domain.chats.chat_notes import (
    DEFAULT_LANGUAGE,
    MAX_ICONS,
    MAX_SUMMARY_CHARS,
    MAX_TAG_CHARS,
    MAX_TAGS,
    AnswerNotes,
    ChatNotes,
)
from shared.domain.chats.custom_agent import (
    MAX_DESCRIPTION_CHARS,
    MAX_INSTRUCTIONS_CHARS,
    MAX_TOOL_NAME_CHARS,
    CustomAgent,
)
from shared.domain.chats.custom_agent import MAX_NAME_CHARS as MAX_AGENT_NAME_CHARS
from shared.domain.chats.project import MAX_NAME_CHARS as MAX_PROJECT_NAME_CHARS
from shared.domain.chats.project import Project
from shared.domain.chats.safety import SafetyScore
from shared.domain.chats.voices import MAX_VOICES
from shared.domain.conversations.conversation import CATEGORIES
from shared.domain.conversations.daily_summary import DailySummary
from shared.domain.conversations.folder import MAX_FOLDERS, Folder
from shared.domain.conversations.own_names import MAX_OWN_NAMES
from shared.domain.errors import Invalid
from shared.domain.ids import is_id
from shared.domain.memories.interests import MAX_INTEREST_CHARS, MAX_INTERESTS
from shared.domain.memories.memory import HOLD_TIME, MAX_SEEN_IN, Memory
from shared.domain.tasks.action_item import ActionItem
from shared.domain.tasks.goal import MAX_PROGRESS_POINTS, Goal
from shared.domain.value import value
from shared.security.visible_text import strip_invisible

T = TypeVar("T")
Fields = Mapping[str, Any]
MAX_BYTES = 900_000
"""Of a record as JSON: a document holds it."""
MAX_WORDS_CHARS = 2_000
"""Of a memory or a task: other writers may write less."""
MAX_LINES = 500
"""Of a list of objects in a record, such as the versions of a chat: small ones in a file are large ones here."""
MAX_NAME_CHARS = 200
DECIDING_METADATA = (QUESTION_KEY, LISTED_KEY, METADATA_FIELD)
"""By these an answer asks whether a call may run, and what undoing it changes: no file says that."""
MAX_ICON_CHARS = 64
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)

NOT_TAKEN: Mapping[str, str] = {
    "task_integrations": "where tasks are sent is chosen again, by you",
    "inbox": "notifications are of their day, and one from a file could pose as an app",
    "embeds": "what tools found is of its day, and a file could pose as a service: ask again",
    "sealed_chats": "only your devices can read them: a device that has them stores them again",
    "ciphertexts": "they belong to sealed chats",
    "arcs": "what chats were about is found again in chats you have here",
    "installed_apps": "an app reads what you allow it: install it again",
    "files": "they are in the zip: hand them in again",
    "app_reviews": "a review is public, and stands where it was written",
    "connections": "an account is connected by signing in there again",
    "connected_programs": "a program asks you again before it may read",
    "live_listeners": "it tells what was sent from there",
    "developer_webhooks": "an address that receives your library is entered again, by you",
}
"""The collections of an export that are not brought back, each with the reason for people."""
NOT_TAKEN_SETTINGS: Mapping[str, str] = {
    "retention_days": "it deletes transcripts: set it again, if you want that",
    "retention_set_at": "it belongs to the retention of transcripts",
    "summary_app": "an app reads what you allow it: choose it again",
    "place": "it is where you were then",
    "is_place_shared": "it tells apps where you are: allow it again, if you want that",
    "keeps_audio": "it keeps what is deleted otherwise: set it again, if you want that",
    "own_names_set_at": "it is set anew with your names",
    "forgot_at": "it is set anew once you want something forgotten here",
    "memory_wipes": "it counts what you had deleted there",
    "chat_prompt": "it steers every answer: enter it again, if you want that",
    "chat_reminder": "it steers every answer: enter it again, if you want that",
    "focus_modes": "they steer answers: enter them again, if you want that",
    "rules": "they steer every answer: enter them again, if you want that",
    "masks_private_data": "it decides what models read of you: set it again, if you want that",
    "learning_style": "it steers every answer: enter it again, if you want that",
    "vector_home": "it is where the search index there kept your rows",
    "index_scheme": "it is how the search index there built your rows",
    "next_index_scheme": "it is how the search index there was building your rows anew",
}
TAKEN_SETTINGS = (
    "name",
    "time_zone",
    "language",
    "notifications",
    "daily_summary",
    "is_onboarded",
    "acquisition_source",
    "hearing",
    "own_names",
    "interests",
    "summarises_results",
    "recalls_memories",
    "volunteers_memories",
    "recalls_chats",
    "preferred_model",
)


@value
class ExportedFolders:
    """The folders of an export, in their order."""

    folders: tuple[Folder, ...]


def is_restorable(kind: str, fields: Fields) -> bool:
    """Tell whether a memory or a task has the fields of our own export; others write fewer."""
    return kind not in ("memory", "action_item") or "wording" in fields


def build_record(kind: str, fields: Fields, now: datetime) -> Any:
    """Build the value that an exported record stands for. Raises ValueError and Invalid."""
    if count_json_bytes(fields) > MAX_BYTES:
        raise Invalid(f"more than {describe_bytes(MAX_BYTES)}")
    record = _BUILDERS[kind](fields, now)
    check_ids(record)
    if kind != "settings":
        json.dumps(dump(record), default=repr, allow_nan=False)
    return record


def _load(kind: type[T], fields: Fields, *, bounded: tuple[str, ...] = ()) -> T:
    """Raises ValueError and Invalid."""
    for name in bounded:
        if len(fields.get(name) or ()) > MAX_LINES:
            raise Invalid(f"{name}: at most {MAX_LINES} are expected")
    if "id" in fields and not (isinstance(fields["id"], str) and is_id(fields["id"])):
        raise Invalid("An id has 1 to 64 letters, digits, '-' or '_'.")
    loaded: T = type_adapter(kind).validate_python({**fields})
    return loaded


def _past(at: datetime, now: datetime) -> datetime:
    """Return a time that is not later than `now`, with its offset."""
    aware = at if at.tzinfo else at.replace(tzinfo=UTC)
    return min(max(aware, EARLIEST), now).astimezone(UTC)


def _check_text(name: str, text: str, most: int = MAX_WORDS_CHARS) -> None:
    """Raises Invalid."""
    if not text.strip() or len(text) > most:
        raise Invalid(f"{name}: 1 to {most} characters are expected")


def _build_memory(fields: Fields, now: datetime) -> Memory:
    memory = _load(Memory, fields)
    _check_text("content", memory.content)
    restored = replace(
        memory,
        created_at=_past(memory.created_at, now),
        updated_at=_past(memory.updated_at, now),
        valid_to=memory.valid_to and _past(memory.valid_to, now),
        seen_in=memory.seen_in[:MAX_SEEN_IN],
    )
    if memory.held_until is None:
        return restored
    return restored.hold(_past(memory.held_until, now + HOLD_TIME))


def _build_task(fields: Fields, now: datetime) -> ActionItem:
    task = _load(ActionItem, fields)
    _check_text("description", task.description)
    return replace(
        task,
        created_at=_past(task.created_at, now),
        updated_at=_past(task.updated_at, now),
        completed_at=task.completed_at and _past(task.completed_at, now),
    )


def _build_goal(fields: Fields, now: datetime) -> Goal:
    if len(fields.get("progress") or ()) > MAX_PROGRESS_POINTS:
        raise Invalid(f"A goal has at most {MAX_PROGRESS_POINTS} values of progress.")
    goal = _load(Goal, fields).check_range()
    _check_text("title", goal.title)
    return replace(
        goal, created_at=_past(goal.created_at, now), updated_at=_past(goal.updated_at, now)
    )


def _build_folders(fields: Fields, _: datetime) -> ExportedFolders:
    folders = _load(ExportedFolders, {"folders": fields.get("folders", ())}).folders
    if len(folders) > MAX_FOLDERS or len({folder.id for folder in folders}) < len(folders):
        raise Invalid(f"There are at most {MAX_FOLDERS} folders, each once.")
    for folder in folders:
        _check_text("name", folder.name, MAX_NAME_CHARS)
        if not is_id(folder.id) or folder.category_mapping not in (None, *CATEGORIES):
            raise Invalid("A folder has no valid id or category.")
        if not _COLOR.fullmatch(folder.color) or len(folder.icon) > MAX_ICON_CHARS:
            raise Invalid("A folder's color is #RRGGBB, and its icon has at most 64 characters.")
    return ExportedFolders(folders=tuple(folders))


def _build_summary(fields: Fields, now: datetime) -> DailySummary:
    summary = _load(DailySummary, fields)
    date.fromisoformat(summary.id)
    return replace(summary, created_at=_past(summary.created_at, now))


def _build_session(fields: Fields, now: datetime) -> Session:
    """Build a chat without messages; its summary and safety score are made anew."""
    session = _load(Session, fields, bounded=("forks",))
    return replace(
        session.without_summary(),
        title=session.title[:MAX_NAME_CHARS],
        project_id=session.project_id if is_id(session.project_id or "") else None,
        created_at=_past(session.created_at, now),
        updated_at=_past(session.updated_at, now),
        message_count=0,
        safety=SafetyScore(),
        notes=_build_notes(session.notes, now),
        requests=(),  # what answers may read is decided here, by the owner
    )


def _build_notes(notes: ChatNotes, now: datetime) -> ChatNotes:
    """Build what was noted of a chat, within its limits, without questions that a click would ask."""
    noted = notes.noted_until
    return replace(
        notes,
        summary=strip_invisible(notes.summary)[:MAX_SUMMARY_CHARS],
        tags=tuple(strip_invisible(tag)[:MAX_TAG_CHARS] for tag in notes.tags[:MAX_TAGS]),
        icons=tuple(icon[:MAX_ICON_CHARS] for icon in notes.icons[:MAX_ICONS]),
        language=notes.language if _LANGUAGE.fullmatch(notes.language) else DEFAULT_LANGUAGE,
        new_chats=(),
        noted_until=(_past(noted[0], now), noted[1]) if noted and is_id(noted[1]) else None,
        noted_branch=notes.noted_branch if is_id(notes.noted_branch) else ROOT,
    )


def _build_message(fields: Fields, now: datetime) -> Message:
    """Build a message that counts as nobody's words: only the store tells what the owner wrote."""
    message = _load(
        Message,
        fields,
        bounded=("cards", "files", "file_citations", "documents", "steps", "embeds"),
    )
    if not is_id(message.session_id):
        raise Invalid("The chat of a message has no valid id.")
    if message.chart is not None:
        message.chart.check_bounds()
    _check_voices(message)
    metadata = {k: found for k, found in message.metadata.items() if k not in DECIDING_METADATA}
    return replace(
        message,
        created_at=_past(message.created_at, now),
        files=(),  # they would name files of the importer's own
        embeds=(),  # what they refer to is not brought back
        documents=(),  # the chat here gives its own numbers
        last_number=0,
        metadata=metadata,
        notes=AnswerNotes() if message.notes else None,  # no file suggests what to ask or change
        links=None,  # no file has addresses looked up
        is_imported=True,
    )


def _check_voices(message: Message) -> None:
    """Raises Invalid."""
    if len(message.voices) > MAX_VOICES or any(len(v) > MAX_NAME_CHARS for v in message.voices):
        raise Invalid(f"At most {MAX_VOICES} models answer at once.")
    if not 0 <= message.voice < max(1, len(message.voices)):
        raise Invalid("An answer is of one of the models that answered.")


def _build_agent(fields: Fields, now: datetime) -> CustomAgent:
    """Build an agent; the store marks its text as that of others."""
    agent = _load(CustomAgent, fields)
    _check_text("name", agent.name, MAX_AGENT_NAME_CHARS)
    _check_text("instructions", agent.instructions, MAX_INSTRUCTIONS_CHARS)
    if len(agent.description) > MAX_DESCRIPTION_CHARS or len(agent.emoji) > MAX_ICON_CHARS:
        raise Invalid(f"An agent's description has at most {MAX_DESCRIPTION_CHARS} characters.")
    if any(len(name) > MAX_TOOL_NAME_CHARS for name in agent.tools or ()):
        raise Invalid(f"The name of a tool has at most {MAX_TOOL_NAME_CHARS} characters.")
    return replace(
        agent,
        created_at=_past(agent.created_at, now),
        updated_at=_past(agent.updated_at, now),
    )


def _build_project(fields: Fields, now: datetime) -> Project:
    project = _load(Project, fields)
    _check_text("name", project.name, MAX_PROJECT_NAME_CHARS)
    return replace(
        project,
        created_at=_past(project.created_at, now),
        updated_at=_past(project.updated_at, now),
    )


def _build_health(fields: Fields, _: datetime) -> AppleHealth:
    return _load(AppleHealth, {name: fields[name] for name in fields if name != "id"})


def build_settings(fields: Fields) -> dict[str, Any]:
    """Build the settings of a profile that are taken, those that differ from the usual ones.

    Raises ValueError and Invalid.
    """
    taken = {name: fields[name] for name in TAKEN_SETTINGS if fields.get(name) is not None}
    profile = _load(Profile, taken, bounded=("own_names", "interests"))
    _check_settings(profile)
    usual = Profile()
    found = {name: getattr(profile, name) for name in TAKEN_SETTINGS}
    return {name: chosen for name, chosen in found.items() if chosen != getattr(usual, name)}


def _check_settings(profile: Profile) -> None:
    names = [profile.name, profile.acquisition_source or "", profile.language or ""]
    if any(len(name) > MAX_NAME_CHARS for name in [*names, *profile.own_names]):
        raise Invalid(f"A name in the profile has at most {MAX_NAME_CHARS} characters.")
    _check_interests(profile.interests)
    if len(profile.own_names) > MAX_OWN_NAMES or len(profile.notifications.muted_apps) > MAX_LINES:
        raise Invalid("The profile has too many names.")
    try:
        ZoneInfo(profile.time_zone)
    except (KeyError, ValueError, OSError) as error:
        raise Invalid("The time zone is not an IANA name.") from error


def _check_interests(interests: Sequence[str]) -> None:
    if len(interests) > MAX_INTERESTS or any(len(each) > MAX_INTEREST_CHARS for each in interests):
        raise Invalid(
            f"At most {MAX_INTERESTS} interests are expected, of {MAX_INTEREST_CHARS} characters each."
        )


def list_settings_left(fields: Fields) -> dict[str, str]:
    """Return the settings of a profile that stay behind, with the reasons."""
    usual = type_adapter(Profile).dump_python(Profile(), mode="json")
    return {
        name: reason
        for name, reason in NOT_TAKEN_SETTINGS.items()
        if name in fields and fields[name] != usual[name]
    }


_BUILDERS: Mapping[str, Callable[[Fields, datetime], Any]] = {
    "memory": _build_memory,
    "action_item": _build_task,
    "goal": _build_goal,
    "folders": _build_folders,
    "daily_summary": _build_summary,
    "chat_session": _build_session,
    "message": _build_message,
    "alternative": _build_message,
    "agent": _build_agent,
    "project": _build_project,
    "health": _build_health,
    "settings": lambda fields, _: build_settings(fields),
}
RESTORED_KINDS: Mapping[str, str] = {
    "profile": "settings",
    "folders": "folders",
    "goals": "goal",
    "daily_summaries": "daily_summary",
    "chat_sessions": "chat_session",
    "agents": "agent",
    "projects": "project",
    "messages": "message",
    "alternatives": "alternative",
    "health": "health",
}
"""The kinds of the records of an export, by their collection; others come from other programs, too."""
