"""Assignments of speakers to single segments, kept as few and as short as they can be; pure."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace

from shared.domain.conversations.conversation import Assignment, Conversation, Speaker
from shared.domain.errors import NotFound, TooLarge

MAX_ASSIGNED_SEGMENTS = 2_000
"""Their ids stand in the conversation's document, beside its transcript."""


def assign_segments(
    conversation: Conversation, segment_ids: Collection[str], speaker: Speaker
) -> Conversation:
    """Return the conversation, whose segments are loaded, with who spoke these segments.

    A speaker who is assigned to all segments of a label is assigned to the label. Raises NotFound for
    an unknown segment, and TooLarge.
    """
    labels = _map_labels(conversation)
    if not labels.keys() >= set(segment_ids):
        raise NotFound("Segment not found")
    assigned = {**_map_assigned(conversation, labels), **dict.fromkeys(segment_ids, speaker)}
    return _store(conversation, labels, assigned, conversation.speakers)


def assign_label(conversation: Conversation, label: str, speaker: Speaker | None) -> Conversation:
    """Return the conversation with who spoke all segments of a label; None removes who was assigned.

    Where its segments are loaded, what was assigned to single ones of the label is removed too.
    """
    labels = _map_labels(conversation)
    others = {name: who for name, who in conversation.speakers.items() if name != label}
    speakers = {**others, label: speaker} if speaker else others
    assigned = {
        name: who
        for name, who in _map_assigned(conversation, labels).items()
        if labels[name] != label
    }
    return _store(conversation, labels, assigned, speakers)


def _map_labels(conversation: Conversation) -> dict[str, str]:
    """Return the label of each segment by the segment's id."""
    pairs = zip(conversation.segment_ids, conversation.transcript_segments, strict=True)
    return {segment_id: segment.speaker for segment_id, segment in pairs}


def _map_assigned(conversation: Conversation, labels: Mapping[str, str]) -> dict[str, Speaker]:
    """Return the speaker by segment, without segments that are gone."""
    return {
        segment_id: assignment.speaker
        for assignment in conversation.assignments
        for segment_id in assignment.segment_ids
        if segment_id in labels
    }


def _store(
    conversation: Conversation,
    labels: Mapping[str, str],
    assigned: Mapping[str, Speaker],
    speakers: Mapping[str, Speaker],
) -> Conversation:
    whole_labels = _find_whole_labels(labels, assigned)
    speakers = {**speakers, **whole_labels}
    groups: dict[Speaker, list[str]] = defaultdict(list)
    for segment_id, label in labels.items():
        if segment_id in assigned and assigned[segment_id] != speakers.get(label):
            groups[assigned[segment_id]].append(segment_id)
    if sum(map(len, groups.values())) > MAX_ASSIGNED_SEGMENTS:
        raise TooLarge(f"At most {MAX_ASSIGNED_SEGMENTS} segments have a speaker of their own")
    person_ids = {who.person_id for who in [*speakers.values(), *groups] if who.person_id}
    return replace(
        conversation,
        speakers=speakers,
        assignments=tuple(
            Assignment(speaker=who, segment_ids=tuple(ids)) for who, ids in groups.items()
        ),
        person_ids=tuple(sorted(person_ids)),
    )


def _find_whole_labels(
    labels: Mapping[str, str], assigned: Mapping[str, Speaker]
) -> dict[str, Speaker]:
    """Return the labels all of whose segments one speaker is assigned to."""
    speakers_by_label: dict[str, set[Speaker | None]] = defaultdict(set)
    for segment_id, label in labels.items():
        speakers_by_label[label].add(assigned.get(segment_id))
    return {
        label: who
        for label, speakers in speakers_by_label.items()
        if len(speakers) == 1
        for who in speakers
        if who is not None
    }
