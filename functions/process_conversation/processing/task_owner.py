"""Owner of an extracted task: what a model says about it, within what the transcript supports; pure."""

from collections.abc import Sequence

from functions.process_conversation.processing.model_outputs import ActionItemOutput
from shared.domain.conversations.conversation import Segment
from shared.domain.conversations.own_names import build_name_key
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.tasks.action_item import TaskOwner
from shared.domain.value import value

MAX_NAME_CHARS = 64


@value
class Voices:
    """Who speaks in a transcript: the keys of the user's names, and whether the user is known.

    Somebody who speaks alone and without a name is the user: they keep a note.
    """

    own_keys: frozenset[str]
    has_user: bool


@value
class Owner:
    """Whose a task is; `name` is that of somebody else."""

    owner: TaskOwner
    name: str | None = None


def find_voices(segments: Sequence[Segment]) -> Voices:
    labels = {segment.speaker for segment in segments}
    own_labels = {segment.speaker for segment in segments if segment.is_user}
    is_note = len(labels) == 1 and not any(map(is_name, labels))
    return Voices(
        own_keys=frozenset(build_name_key(label) for label in own_labels if is_name(label)),
        has_user=bool(own_labels) or is_note,
    )


def decide_owner(voices: Voices, answer: ActionItemOutput) -> Owner:
    """Return whose a task is. Nothing is the user's before anybody in the transcript is the user."""
    name = " ".join((answer.owner_name or "").split())[:MAX_NAME_CHARS]
    if answer.owner == "other" and build_name_key(name) in voices.own_keys:
        return Owner(owner="me")
    if answer.owner == "other":
        return Owner(owner="other", name=name if name and is_name(name) else None)
    if answer.owner == "me" and voices.has_user:
        return Owner(owner="me")
    return Owner(owner="unknown")
