"""Merged transcript: the segments of several conversations in the order of time; pure.

A label of one recording says nothing about the labels of another. So two speakers become one only where
both are the owner, the same person, or have the same name. What two devices heard at once stands there once.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from shared.domain.conversations.conversation import Conversation, Edits, Segment, Speaker
from shared.domain.conversations.speaker_labels import build_label, is_name, number_speakers
from shared.domain.ids import ConversationId, PersonId
from shared.domain.words import count_words, normalise

T = TypeVar("T")
HEARD_WITHIN_S = 15.0
"""So far apart two devices may say that they heard the same words."""
MIN_DOUBLE_WORDS = 3
"""A "yes" may be two people's."""
_MAX_BETWEEN = 20
"""Segments between two that are compared: one without end is compared with no thousand others."""
_Identity = tuple[str, ...]


def join_conversation(
    whole: Conversation, added: Conversation, *, are_speakers_told_apart: bool
) -> Conversation:
    """Return a conversation with what was recorded beside it; all else of it stays, ids of segments too.

    Where nothing tells speakers apart, the same label is the same unknown speaker.
    """
    pairs = zip(whole.segment_ids, whole.transcript_segments, strict=True)
    known = replace(
        whole, transcript_segments=tuple(replace(segment, id=name) for name, segment in pairs)
    )
    merged = merge_conversations(
        [known, added], whole.id, are_labels_shared=not are_speakers_told_apart
    )
    return replace(
        whole,
        created_at=merged.created_at,
        started_at=merged.started_at,
        finished_at=merged.finished_at,
        transcript_segments=merged.transcript_segments,
        parts=(),
        speakers=merged.speakers,
        assignments=(),
        person_ids=merged.person_ids,
        text_bytes=merged.text_bytes,
    )


def merge_conversations(
    sources: Sequence[Conversation], merged_id: ConversationId, *, are_labels_shared: bool = False
) -> Conversation:
    """Return the conversation that takes the place of these, whose segments and photos are loaded.

    It counts as a conversation if one of them does. A title, sign or category that its owner gave to
    one of them stays, the earliest one's first.
    """
    in_order = sorted(sources, key=lambda source: (source.started_at, source.id))
    first = in_order[0]
    speakers: dict[str, Speaker] = {}
    iterated = _iterate_segments(in_order, speakers, are_labels_shared=are_labels_shared)
    segments = sorted(iterated, key=lambda pair: pair[1].start)
    return Conversation(
        id=merged_id,
        created_at=min(source.created_at for source in sources),
        started_at=first.started_at,
        finished_at=max(source.finished_at for source in sources),
        source=first.source,
        language=first.language,
        transcript_segments=tuple(_leave_out_doubles(segments)),
        photos=tuple(photo for source in in_order for photo in source.photos),
        geolocation=_find_first(source.geolocation for source in in_order),
        external_data=_find_first(source.external_data for source in in_order),
        edits=Edits(
            title=_find_first(source.edits.title for source in in_order),
            emoji=_find_first(source.edits.emoji for source in in_order),
            category=_find_first(source.edits.category for source in in_order),
            discarded=None if all(source.discarded for source in sources) else False,
        ),
        speakers=speakers,
        person_ids=tuple(sorted({who.person_id for who in speakers.values() if who.person_id})),
        starred=any(source.starred for source in sources),
        folder_id=_find_first(source.folder_id for source in in_order),
        text_bytes=sum(source.count_text_bytes() for source in sources),
        merged_from=tuple(dict.fromkeys(name for source in in_order for name in source.family)),
    )


def _find_first(values: Iterable[T | None]) -> T | None:
    return next((value for value in values if value is not None), None)


def _iterate_segments(
    sources: Sequence[Conversation], speakers: dict[str, Speaker], *, are_labels_shared: bool
) -> Iterator[tuple[ConversationId, Segment]]:
    """Yield the segments with their source, timed from the start of the first; `speakers` takes in who is known."""
    labels: dict[_Identity, str] = {}
    free = _FreeNumbers()
    for source in sources:
        offset_s = (source.started_at - sources[0].started_at).total_seconds()
        numbers = number_speakers(segment.speaker for segment in source.transcript_segments)
        pairs = zip(source.transcript_segments, source.named_segments, strict=True)
        for segment, named in pairs:
            identity = _identify("" if are_labels_shared else source.id, segment, named)
            if identity not in labels:
                labels[identity] = build_label(free.take(numbers[segment.speaker]))
                speakers.update(_build_speaker(labels[identity], named))
            timed = replace(
                segment,
                speaker=labels[identity],
                is_user=named.is_user,
                person_id=named.person_id,
                start=segment.start + offset_s,
                end=segment.end + offset_s,
            )
            yield source.id, timed


def _leave_out_doubles(segments: Sequence[tuple[ConversationId, Segment]]) -> Iterator[Segment]:
    """Yield each segment but those whose words stand in one of another source, of at least as well known a speaker."""
    ranks = [(s.is_user, s.person_id is not None) for _, s in segments]
    words = [
        f" {normalise(s.text)} " if count_words(s.text) >= MIN_DOUBLE_WORDS else ""
        for _, s in segments
    ]

    def is_double(n: int, m: int) -> bool:
        (source, segment), (other_source, other) = segments[n], segments[m]
        return (
            source != other_source
            and words[n] in words[m]
            and abs(segment.start - other.start) <= HEARD_WITHIN_S
            and (ranks[n], len(words[n]), -n) < (ranks[m], len(words[m]), -m)
        )

    for n, (_, segment) in enumerate(segments):
        near = range(max(0, n - _MAX_BETWEEN), min(n + _MAX_BETWEEN + 1, len(segments)))
        if not words[n] or not any(is_double(n, m) for m in near):
            yield segment


def _identify(scope: str, segment: Segment, named: Segment) -> _Identity:
    """Return who speaks; a label alone is somebody within its scope."""
    if named.person_id:
        return "person", named.person_id
    if named.is_user:
        return ("user",)
    if is_name(named.speaker):
        return "name", named.speaker
    return "label", scope, segment.speaker


class _FreeNumbers:
    """Numbers that no speaker has yet; a recording may name thousands of speakers."""

    def __init__(self) -> None:
        self._successors: dict[int, int] = {}
        """By a number that is taken, a later one; those between them are taken too."""

    def take(self, number: int) -> int:
        """Take this number, or the next one that is free, and return it."""
        passed = []
        while number in self._successors:
            passed.append(number)
            number = self._successors[number]
        self._successors.update(dict.fromkeys([*passed, number], number + 1))
        return number


def _build_speaker(label: str, named: Segment) -> dict[str, Speaker]:
    """Return the speaker of a label; none where nobody knows who it is."""
    name = named.speaker if is_name(named.speaker) else ""
    if not name and not named.person_id:
        return {}
    person_id = PersonId(named.person_id) if named.person_id else None
    return {label: Speaker(name=name, person_id=person_id, is_user=named.is_user)}
