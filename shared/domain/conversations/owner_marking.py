"""Owner marking: which speakers of a conversation are its owner, by the owner's own names; pure."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from shared.domain.conversations.conversation import Conversation, Speaker
from shared.domain.conversations.own_names import build_name_key
from shared.domain.conversations.speaker_labels import is_name


def mark_owner(
    conversation: Conversation,
    own_names: Iterable[str],
    people: Mapping[str, Speaker] | None = None,
) -> Conversation:
    """Return it, with its segments loaded, with the owner behind exactly their own names.

    Whoever the owner named themselves stays. A speaker whose name is no own name any more is the one of
    `people` (by recorded name) again, or nobody. What an app wrote names nobody as the owner.
    """
    if conversation.app_id is not None:
        return conversation
    own_keys = set(map(build_name_key, own_names))
    speakers = dict(conversation.speakers)
    for label in dict.fromkeys(segment.speaker for segment in conversation.transcript_segments):
        speaker = _decide(label, speakers.pop(label, None), own_keys, people or {})
        if speaker is not None:
            speakers[label] = speaker
    everybody = [*speakers.values(), *(each.speaker for each in conversation.assignments)]
    person_ids = {speaker.person_id for speaker in everybody if speaker.person_id}
    return replace(conversation, speakers=speakers, person_ids=tuple(sorted(person_ids)))


def _decide(
    label: str, known: Speaker | None, own_keys: set[str], people: Mapping[str, Speaker]
) -> Speaker | None:
    """Return who speaks under a label."""
    recorded_name = label if is_name(label) else ""
    if known is not None and not known.is_own_name and not _is_recorded(known, recorded_name):
        return known
    name = (known.name if known else "") or recorded_name
    if build_name_key(name) in own_keys:
        return Speaker(name=known.name if known else "", is_user=True, is_own_name=True)
    if known is not None and known.is_own_name:
        merged_speaker = Speaker(name=known.name) if known.name else None
        return people.get(recorded_name, merged_speaker)
    return known


def _is_recorded(known: Speaker, recorded_name: str) -> bool:
    """Tell whether a speaker says no more than the recorder did; in a merge their name is kept here."""
    is_same_name = build_name_key(known.name) == build_name_key(recorded_name)
    is_from_merge = not recorded_name and known.person_id is None
    return bool(known.name) and not known.is_user and (is_same_name or is_from_merge)
