"""Merged transcripts: every segment once, in the order of time, and no two strangers as one speaker."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversations.conversation import Conversation, Edits, Segment, Speaker
from shared.domain.conversations.merged_transcript import merge_conversations
from shared.domain.ids import ConversationId, PersonId

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
MERGED = ConversationId("merged")

segments = st.builds(
    Segment,
    text=st.sampled_from(["yes", "no", "well"]),
    speaker=st.sampled_from(["SPEAKER_00", "SPEAKER_01", "SPEAKER_7", "Ann", "Speaker 1", ""]),
    is_user=st.booleans(),
    start=st.integers(0, 600).map(float),
    end=st.just(601.0),
    person_id=st.sampled_from([None, "bob", "eve"]),
    id=st.sampled_from([None, "s1", "s2"]),
)


@st.composite
def sources(draw: st.DrawFn) -> list[Conversation]:
    built = []
    for number in range(draw(st.integers(2, 4))):
        started_at = START + timedelta(seconds=draw(st.integers(0, 7_200)))
        built.append(
            Conversation(
                id=ConversationId(f"c{number}"),
                created_at=started_at,
                started_at=started_at,
                finished_at=started_at + timedelta(minutes=11),
                transcript_segments=tuple(draw(st.lists(segments, max_size=6))),
            )
        )
    return built


def find_times(conversation: Conversation) -> list[tuple[datetime, str]]:
    return sorted(
        (conversation.started_at + timedelta(seconds=segment.start), segment.text)
        for segment in conversation.transcript_segments
    )


@given(sources())
def test_every_segment_comes_along_at_its_time(parts):
    merged = merge_conversations(parts, MERGED)

    starts = [segment.start for segment in merged.transcript_segments]
    assert starts == sorted(starts)
    assert find_times(merged) == sorted(time for part in parts for time in find_times(part))
    assert merged.started_at == min(part.started_at for part in parts)
    assert merged.finished_at == max(part.finished_at for part in parts)
    assert len(set(merged.segment_ids)) == len(starts)


@given(sources(), st.randoms(use_true_random=False))
def test_the_order_in_which_they_are_named_does_not_matter(parts, random):
    shuffled = random.sample(parts, len(parts))

    assert merge_conversations(shuffled, MERGED) == merge_conversations(parts, MERGED)


@given(sources())
def test_every_speaker_of_the_result_is_one_person(parts):
    merged = merge_conversations(parts, MERGED)

    for label in {segment.speaker for segment in merged.labelled_segments}:
        said = [segment for segment in merged.labelled_segments if segment.speaker == label]
        assert len({(s.person_id, s.is_user, s.speaker_name) for s in said}) <= 2
        assert len({s.person_id for s in said}) == 1


def build(name: str, *lines: Segment, **fields: object) -> Conversation:
    conversation = Conversation(
        id=ConversationId(name),
        created_at=START,
        started_at=START,
        finished_at=START + timedelta(minutes=5),
        transcript_segments=lines,
    )
    return replace(conversation, **fields)  # type: ignore[arg-type]


def test_known_speakers_share_a_label_and_strangers_do_not():
    ann = {"SPEAKER_01": Speaker(name="Ann", person_id=PersonId("ann"))}
    first = build(
        "a",
        Segment(text="mine", is_user=True, start=0),
        Segment(text="hers", speaker="SPEAKER_01", start=1),
        Segment(text="stranger", speaker="SPEAKER_02", start=2),
        speakers=ann,
    )
    second = build(
        "b",
        Segment(text="hers", speaker="SPEAKER_00", start=0),
        Segment(text="another stranger", speaker="SPEAKER_02", start=1),
        Segment(text="mine", speaker="SPEAKER_05", is_user=True, start=2),
        speakers={"SPEAKER_00": ann["SPEAKER_01"]},
        started_at=START + timedelta(minutes=1),
    )

    merged = merge_conversations([second, first], MERGED)

    shown = [(s.text, s.speaker, s.speaker_name) for s in merged.labelled_segments]
    assert shown == [
        ("mine", "SPEAKER_00", None),
        ("hers", "SPEAKER_01", "Ann"),
        ("stranger", "SPEAKER_02", None),
        ("hers", "SPEAKER_01", "Ann"),
        ("another stranger", "SPEAKER_03", None),
        ("mine", "SPEAKER_00", None),
    ]
    assert merged.person_ids == ("ann",)


def test_a_merge_counts_as_a_conversation_if_one_source_does():
    kept, discarded = build("a"), build("b", discarded=True)

    assert merge_conversations([kept, discarded], MERGED).edits.discarded is False
    assert merge_conversations([discarded, discarded], MERGED).edits.discarded is None


def test_thousands_of_named_speakers_keep_labels_of_their_own():
    parts = [build_crowd(number) for number in range(2)]

    merged = merge_conversations(parts, MERGED)

    labels = {segment.speaker for segment in merged.transcript_segments}
    assert len(labels) == len(merged.transcript_segments) == 20_000


def build_crowd(number: int) -> Conversation:
    return Conversation(
        id=ConversationId(f"c{number}"),
        created_at=START,
        started_at=START,
        finished_at=START,
        transcript_segments=tuple(
            Segment(text="yes", speaker=f"Guest {number}-{guest}") for guest in range(10_000)
        ),
    )


def test_a_title_that_its_owner_gave_stays():
    hotel, offsite = (
        Conversation(
            id=ConversationId(name),
            created_at=START + timedelta(hours=hours),
            started_at=START + timedelta(hours=hours),
            finished_at=START + timedelta(hours=hours + 1),
            edits=Edits(title=title),
        )
        for name, hours, title in (("hotel", 0, None), ("offsite", 2, "Lisbon"))
    )

    assert merge_conversations([offsite, hotel], MERGED).edits.title == "Lisbon"


def test_what_two_devices_heard_at_once_stands_there_once_i2():
    def record(name, source, late_s, *said):
        started_at = START + timedelta(seconds=late_s)
        return Conversation(
            id=ConversationId(name),
            created_at=started_at,
            started_at=started_at,
            finished_at=started_at + timedelta(minutes=5),
            source=source,
            transcript_segments=tuple(
                Segment(text=text, speaker=speaker, is_user=speaker == "ME", start=start, end=start)
                for start, speaker, text in said
            ),
        )

    phone = record(
        *("a", "phone", 0),
        (0.0, "SPEAKER_00", "Shall we meet on Friday? I can bring the plan."),
        (9.0, "SPEAKER_01", "Yes."),
        (12.0, "SPEAKER_01", "That suits me well."),
        (200.0, "SPEAKER_00", "I can bring the plan."),
    )
    device = record(
        *("b", "omi", 4),
        (0.0, "ME", "Shall we meet on Friday?"),
        (2.0, "ME", "I can bring the plan."),
        (6.0, "SPEAKER_01", "Yes."),
        (9.0, "SPEAKER_01", "that suits me well"),
        (15.0, "SPEAKER_01", "Until Friday then, at the mill."),
    )

    merged = merge_conversations([phone, device], MERGED)

    assert [(s.is_user, s.text) for s in merged.transcript_segments] == [
        (False, "Shall we meet on Friday? I can bring the plan."),
        (True, "Shall we meet on Friday?"),
        (True, "I can bring the plan."),
        (False, "Yes."),
        (False, "Yes."),
        (False, "That suits me well."),
        (False, "Until Friday then, at the mill."),
        (False, "I can bring the plan."),
    ]
