"""Assignments of speakers to segments: every segment shows whom it was last given to."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversations import assignments
from shared.domain.conversations.assignments import (
    MAX_ASSIGNED_SEGMENTS,
    assign_label,
    assign_segments,
)
from shared.domain.conversations.conversation import Conversation, Segment, Speaker, content_hash
from shared.domain.errors import NotFound, TooLarge
from shared.domain.ids import ConversationId, PersonId

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
LABELS = ("SPEAKER_00", "SPEAKER_01", "Ann")
SPEAKERS = (
    Speaker(),
    Speaker(is_user=True),
    Speaker(name="Bob", person_id=PersonId("bob")),
    Speaker(name="Eve", person_id=PersonId("eve")),
)


def build(count: int) -> Conversation:
    return Conversation(
        id=ConversationId("talk"),
        created_at=START,
        started_at=START,
        finished_at=START,
        transcript_segments=tuple(
            Segment(text=f"words {n}", speaker=LABELS[n % 3], id=f"s{n}") for n in range(count)
        ),
    )


segment_steps = st.tuples(
    st.lists(st.integers(0, 8), min_size=1, unique=True), st.sampled_from(SPEAKERS)
)
label_steps = st.tuples(st.sampled_from(LABELS), st.sampled_from((None, *SPEAKERS)))


@given(st.lists(st.one_of(segment_steps, label_steps), max_size=8))
def test_every_segment_shows_the_last_assignment(steps):
    conversation = build(9)
    shown: dict[str, Speaker | None] = {f"s{n}": None for n in range(9)}
    labels = {f"s{n}": LABELS[n % 3] for n in range(9)}

    for target, speaker in steps:
        if isinstance(target, str):
            conversation = assign_label(conversation, target, speaker)
            shown |= {name: speaker for name, label in labels.items() if label == target}
        else:
            ids = [f"s{n}" for n in target]
            conversation = assign_segments(conversation, ids, speaker)
            shown |= dict.fromkeys(ids, speaker)

    for name, segment in zip(shown, conversation.named_segments, strict=True):
        expected = shown[name] or Speaker()
        assert (segment.person_id, segment.is_user) == (expected.person_id, expected.is_user)
        assert segment.speaker == (expected.name or labels[name])
    people = {who.person_id for who in shown.values() if who and who.person_id}
    assert set(conversation.person_ids) == people


def test_an_assignment_is_a_change_of_content_and_none_is_none():
    conversation = build(6)
    changed = assign_segments(conversation, ["s1"], SPEAKERS[2])

    assert content_hash(changed) != content_hash(conversation)
    assert content_hash(assign_label(changed, "SPEAKER_01", None)) == content_hash(conversation)


def test_an_unknown_segment_is_not_found():
    with pytest.raises(NotFound):
        assign_segments(build(3), ["s9"], SPEAKERS[1])


def test_segments_with_a_speaker_of_their_own_are_bounded():
    conversation = build(3 * (MAX_ASSIGNED_SEGMENTS + 2))
    ids = [f"s{3 * n}" for n in range(MAX_ASSIGNED_SEGMENTS + 1)]

    assert (
        len(assign_segments(conversation, ids[1:], SPEAKERS[1]).assignments[0].segment_ids)
        == assignments.MAX_ASSIGNED_SEGMENTS
    )
    with pytest.raises(TooLarge):
        assign_segments(conversation, ids, SPEAKERS[1])
