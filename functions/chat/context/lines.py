"""Lines of the latest message: facts on the moment, the owner and the chat, in the words that a model reads; pure.

Also called: personalization.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import date, datetime

from functions.chat.context.blocks import FileNote
from shared import prompts
from shared.domain.account.profile import Profile
from shared.domain.apps.app import App
from shared.domain.chats.chat import Message
from shared.domain.chats.exercise import ActiveExercise
from shared.domain.chats.safety import SafetyScore
from shared.domain.provenance import LIBRARY
from shared.domain.wall_clock import list_days_ahead
from shared.exercises import find_exercise
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize
from shared.safety.safety_score import find_step
from shared.security.fencing import fence_untrusted, quote_untrusted

MAX_TOLD_INTERESTS = 5
PAUSED = (
    "The owner paused memories: use nothing that was remembered about them, and say so if they ask."
)
PAUSED_BUT_ALLOWED = "The owner paused memories: use nothing that was remembered about them but what they allowed here."
EXERCISE_GUIDE = (
    "The exercise “{title}” goes on. Its step {step} of {count}: {text} Lead through this step alone, gently "
    "and in a few words; when it is done call finish_exercise_step, when the owner has enough end_exercise."
)
EXERCISE_INTERRUPTED = (
    "It was interrupted by something graver: ask first whether the owner wants to go on."
)
MAX_NAMED_FILES = 50
MAX_FILE_NAME_CHARS = 120
NO_PROJECT = (
    "The request may need to know a whole project, and this chat belongs to none: where the answer depends on "
    "code that you have not seen, say which files you need, and that the chat can be put into a project with them."
)


def build_lines(profile: Profile, now: datetime, language: str) -> list[str]:
    local_time = now.astimezone(profile.zone)
    told = local_time.isoformat(timespec="minutes")
    return [
        f"Current time: {told} ({profile.zone.key}), {local_time:%A}",
        f"Days ahead: {list_days_ahead(now, profile.zone)}",
        f"Language: {_quote(language)}",
    ]


def build_setting_lines(profile: Profile, *, has_details: bool) -> Iterator[str]:
    if not profile.recalls_memories:
        yield PAUSED_BUT_ALLOWED if has_details else PAUSED
    elif profile.volunteers_memories:
        yield "The owner likes to be reminded: look up memories that fit, and bring one up unasked."


def build_name_lines(profile: Profile, app: App | None) -> Iterator[str]:
    if profile.name:
        yield f"The owner's name: {quote_untrusted(profile.name)}"
    if app is not None and app.persona_prompt is None:
        yield f"This chat belongs to the app {quote_untrusted(app.name)}: {quote_untrusted(app.description)}"


def build_owner_lines(
    profile: Profile, question: str, chat_id: str, now: datetime
) -> Iterator[str]:
    """Tell what the owner likes and how they learn, quoted, as an import may have brought it."""
    day = now.astimezone(profile.zone).date()
    interests = choose_interests(profile.interests, question, chat_id=chat_id, day=day)
    if interests:
        yield f"Some of the owner's interests, for examples where they fit: {_quote(interests)}"
    if profile.learning_style:
        yield f"How the owner likes to learn: {_quote(profile.learning_style)}"


def choose_interests(
    interests: Sequence[str], question: str, *, chat_id: str, day: date
) -> list[str]:
    """Return at most MAX_TOLD_INTERESTS, and never all of several: no answer needs the whole of a person.

    Those that share a word with the question; where none does, some that stay the same in a chat for a
    day, so that the prompt does.
    """
    limit = min(MAX_TOLD_INTERESTS, max(len(interests) - 1, 1))
    asked = {term for term in tokenize(question) if get_term_weight(term) > 0}
    related = [interest for interest in interests if asked.intersection(tokenize(interest))]
    mixed = sorted(interests, key=lambda interest: _hash(chat_id, day, interest))
    return (related or mixed)[:limit]


def _hash(chat_id: str, day: date, interest: str) -> bytes:
    return hashlib.sha256(f"{chat_id}\n{day.isoformat()}\n{interest}".encode()).digest()


def _quote(words: object) -> str:
    return json.dumps(words, ensure_ascii=False)


def describe_caution(score: SafetyScore, now: datetime) -> str:
    """Say what to be careful about; empty for a chat that never came to a step."""
    return "" if find_step(score, now) == "none" else prompts.render("chat/caution")


def describe_exercise(active: ActiveExercise | None, newest_first: Sequence[Message]) -> str:
    """Say where a chat is; empty without an exercise, and for one that there is no more."""
    exercise = find_exercise(active.id) if active else None
    if active is None or exercise is None or active.step > len(exercise.steps):
        return ""
    guide = EXERCISE_GUIDE.format(
        title=exercise.title,
        step=active.step,
        count=len(exercise.steps),
        text=exercise.steps[active.step - 1],
    )
    answer = next((message for message in newest_first if message.sender == "ai"), None)
    was_interrupted = answer is not None and answer.route == "crisis"
    return f"{guide} {EXERCISE_INTERRUPTED}" if was_interrupted else guide


def describe_project(files: Sequence[FileNote]) -> str:
    """Name the files of a chat's project as fenced data, or say that there are none."""
    if not files:
        return NO_PROJECT
    named = [
        {"file": file.name[:MAX_FILE_NAME_CHARS], "chars": file.chars}
        for file in files[:MAX_NAMED_FILES]
    ]
    listed = fence_untrusted(json.dumps(named, ensure_ascii=False), LIBRARY)
    rest = f" and {len(files) - MAX_NAMED_FILES} more" if len(files) > MAX_NAMED_FILES else ""
    return (
        "The request may need to know the whole project: look at it before you go into details. Its files:\n"
        f"{listed}{rest}"
    )
