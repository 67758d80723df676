"""Owner of an extracted task: what a model says about it, within what the transcript supports; pure."""

import re
from collections.abc import Iterable, Sequence

from functions.process_conversation.processing.model_outputs import ActionItemOutput
from shared.domain.conversations.conversation import Segment
from shared.domain.conversations.own_names import build_name_key
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.tasks.action_item import TaskOwner
from shared.domain.value import value

MAX_NAME_CHARS = 64
_CALLED_OWNER = ("me", "user", "owner")
"""What prompts, and models, call the owner."""
_FAMILY_FIRST = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts in which the family's name stands first: Hangul, kana and Han."""


@value
class Voices:
    """Who speaks in a transcript: the keys of the owner's names and of everybody else's, and whether the owner speaks."""

    own_keys: frozenset[str]
    other_keys: frozenset[str]
    has_owner: bool


@value
class Owner:
    """Whose a task is; `name` is that of somebody else."""

    owner: TaskOwner
    name: str | None = None


def find_voices(segments: Sequence[Segment], own_names: Iterable[str] = ()) -> Voices:
    """Read who speaks; `own_names` are what the owner is called."""
    own_places = find_own_places(segments, own_names)
    labels = {segment.speaker for segment in segments}
    own_labels = {segments[n].speaker for n in own_places}
    own_keys = {build_name_key(name) for name in (*filter(is_name, own_labels), *own_names)}
    return Voices(
        own_keys=frozenset(own_keys),
        other_keys=frozenset(map(build_name_key, labels - own_labels)),
        has_owner=bool(own_places),
    )


def find_own_places(segments: Sequence[Segment], own_names: Iterable[str] = ()) -> frozenset[int]:
    """Return the places of the owner's segments: marked, or else under a whole name of theirs.

    Somebody who speaks alone and without a name is the owner: they keep a note.
    """
    marked = frozenset(n for n, segment in enumerate(segments) if segment.is_user)
    if marked:
        return marked
    labels = {segment.speaker for segment in segments}
    own_keys = set(map(build_name_key, own_names))
    own_labels = {label for label in labels if is_name(label) and build_name_key(label) in own_keys}
    if len(labels) == 1 and not any(map(is_name, labels)):
        own_labels = labels
    return frozenset(n for n, segment in enumerate(segments) if segment.speaker in own_labels)


def decide_owner(voices: Voices, answer: ActionItemOutput) -> Owner:
    """Return whose a task is. Nothing is the owner's before anybody in the transcript is the owner."""
    name = " ".join(answer.owner.split())[:MAX_NAME_CHARS]
    key = build_name_key(name)
    if key in ("", "unknown"):
        return Owner(owner="unknown")
    if _is_owner(voices, key):
        return Owner(owner="me")
    if key in _CALLED_OWNER and key not in voices.other_keys:
        return Owner(owner="me" if voices.has_owner else "unknown")
    return Owner(owner="other", name=name if key != "other" and is_name(name) else None)


def _is_owner(voices: Voices, key: str) -> bool:
    """Tell whether a name is the owner's, or the first of one who speaks, and nobody else is called so."""
    if key in voices.own_keys:
        return key not in voices.other_keys
    first_names = {
        own.split()[0] for own in voices.own_keys if own and not _FAMILY_FIRST.match(own)
    }
    return (
        voices.has_owner
        and key in first_names
        and not any(key in (other, other.split()[0]) for other in voices.other_keys if other)
    )
