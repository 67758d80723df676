"""Live session: the state of one stream of sound, from samples to segments to the pause that ends a conversation.

It reads no clock and stores nothing: times are passed in, and what is to be done is returned.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain

from shared.domain.conversations.conversation import Segment
from shared.domain.conversations.live_conversation import LiveConversation
from shared.domain.conversations.speaker_labels import build_label
from shared.domain.conversations.speech import Hearing, Utterance
from shared.domain.ids import ConversationId
from shared.domain.value import value
from shared.library.validate_conversation import MAX_SEGMENT_BYTES
from shared.ports import NewId

MAX_GAP = timedelta(seconds=2)
"""Where no sound comes for longer, the device sent none: what follows was said later."""
MAX_MARKS = 200
MAX_BATCH_BYTES = 500_000
"""After so many, further segments are stored apart: a document holds no two of these."""


class StreamTimes:
    """When each second of a stream was said, by the times at which its samples came."""

    def __init__(self, opened_at: datetime) -> None:
        self.position = 0.0
        self._opening = 0.0, opened_at
        self._marks: list[tuple[float, datetime]] = []

    def advance(self, seconds: float, now: datetime) -> None:
        """Take samples that have just come."""
        began_at = now - timedelta(seconds=seconds)
        if not self._marks or began_at - self.find(self.position) > MAX_GAP:
            self._marks = [*self._marks[1 - MAX_MARKS :], (self.position, began_at)]
        self.position += seconds

    def find(self, position: float) -> datetime:
        """Return when a second of the stream was said: none later than its sound."""
        position = min(position, self.position)
        marks = self._marks or [self._opening]
        begin, at = next((mark for mark in reversed(marks) if mark[0] <= position), marks[0])
        return at + timedelta(seconds=position - begin)


@value
class Said:
    """Segments of a conversation: to be stored if they are final, and shown.

    With those that are new, a conversation begins. `gone` are the ids of segments that were shown and are not
    said after all.
    """

    conversation: LiveConversation
    segments: tuple[Segment, ...]
    is_final: bool
    is_new: bool = False
    gone: tuple[str, ...] = ()


@value
class Ended:
    """A conversation is over."""

    conversation_id: ConversationId


Step = Said | Ended


class LiveSession:
    """One stream of a device; `template`, of the time at which it opened, is what its conversations begin with.

    `resumed` is the conversation that an earlier connection left, `provider` what turns its sound into text.
    """

    def __init__(
        self,
        template: LiveConversation,
        new_id: NewId,
        *,
        resumed: LiveConversation | None = None,
        provider: str | None = None,
    ) -> None:
        self.conversation = resumed
        self._provider = provider
        self._template = template
        self._new_id = new_id
        self._times = StreamTimes(template.started_at)
        self._count = 0
        self._shown: tuple[str, ...] = ()
        self._has_words = resumed is not None

    @property
    def position(self) -> float:
        """How many seconds of sound have come."""
        return self._times.position

    @property
    def recorded(self) -> LiveConversation | None:
        """The conversation that holds words; one that was only guessed may never be."""
        return self.conversation if self._has_words else None

    def find_time(self, position: float) -> datetime:
        """Return when a second of the stream was said: none later than its sound."""
        return self._times.find(position)

    def take_sound(self, seconds: float, now: datetime) -> None:
        self._times.advance(seconds, now)

    def take(self, hearing: Hearing) -> Iterator[Step]:
        """Yield what is to be done about what was heard, in its order."""
        spoken, names = list[Segment](), list[str]()
        pieces = chain.from_iterable(map(_split, hearing.utterances))
        for number, utterance in enumerate(pieces, self._count):
            times = self._times.find(utterance.start), self._times.find(utterance.end)
            size = sum(segment.count_stored_bytes() for segment in spoken)
            if size >= MAX_BATCH_BYTES:
                yield from self._tell(hearing, spoken)
                spoken, size = [], 0
            live = self.conversation
            if live is not None and (live.is_over(times[0]) or live.is_full(size)):
                yield from self._tell(hearing, spoken)
                yield from self.end()
                spoken = []
            names.append(f"{self._template.stream}-{number:05}")
            live = self._continue(times, hearing)
            segment = _to_segment(live, utterance, times, names[-1])
            spoken.append(replace(segment, stt_provider=self._provider))
        gone = tuple(name for name in self._shown if name not in names)
        self._shown = () if hearing.is_final else tuple(names)
        self._count += len(names) if hearing.is_final else 0
        yield from self._tell(hearing, spoken, gone)

    def end(self) -> Iterator[Step]:
        """End the conversation, if there is one with words."""
        ended, self.conversation = self.conversation, None
        if ended is not None and self._has_words:
            yield Ended(conversation_id=ended.id)
        self._has_words = False

    def restart(self, refused: Said) -> Said:
        """Begin another conversation with what the stored one took no more."""
        live = refused.conversation
        first = (
            live.started_at + timedelta(seconds=refused.segments[0].start)
            if refused.segments
            else live.last_words_at
        )
        lead = first - live.started_at
        self.conversation = replace(
            self._template,
            id=ConversationId(self._new_id()),
            started_at=first,
            last_words_at=live.last_words_at,
            language=live.language,
        )
        segments = tuple(_shift(segment, lead) for segment in refused.segments)
        return replace(refused, conversation=self.conversation, segments=segments, is_new=True)

    def place(self, begin: datetime, end: datetime) -> Said:
        """Return the conversation of what has no words yet, such as a photo, and whether it begins with it."""
        is_new = not self._has_words
        self._has_words = True
        live = self._continue((begin, end), Hearing(utterances=()))
        return Said(conversation=live, segments=(), is_final=True, is_new=is_new)

    def is_paused(self, heard_until: float, now: datetime) -> bool:
        """Tell whether nothing was said for so long that the conversation is over.

        `heard_until` is how far the stream was heard: what waits to be heard may hold words.
        """
        if self.conversation is None:
            return False
        is_behind = self.position - heard_until > MAX_GAP.total_seconds()
        return self.conversation.is_over(self._times.find(heard_until) if is_behind else now)

    def _continue(self, times: tuple[datetime, datetime], hearing: Hearing) -> LiveConversation:
        """Return the conversation that holds these times; one that is final stays in it."""
        begin, end = times
        live = self.conversation or replace(
            self._template,
            id=ConversationId(self._new_id()),
            started_at=begin,
            last_words_at=begin,
            language=self._template.language or hearing.language,
        )
        if hearing.is_final:
            live = replace(live, last_words_at=max(live.last_words_at, end))
        self.conversation = live
        return live

    def _tell(
        self, hearing: Hearing, segments: Sequence[Segment], gone: tuple[str, ...] = ()
    ) -> Iterator[Step]:
        if self.conversation is None or not (segments or gone):
            return
        is_new = hearing.is_final and bool(segments) and not self._has_words
        self._has_words = self._has_words or is_new
        yield Said(
            conversation=self.conversation,
            segments=tuple(segments),
            is_final=hearing.is_final,
            is_new=is_new,
            gone=gone,
        )


def _shift(segment: Segment, lead: timedelta) -> Segment:
    start, end = (max(at - lead.total_seconds(), 0.0) for at in (segment.start, segment.end))
    return replace(segment, start=round(start, 3), end=round(end, 3))


def _split(utterance: Utterance) -> Iterator[Utterance]:
    """Yield it in pieces that a transcript takes, all of its times."""
    rest = utterance.text.encode()
    while rest:
        text = rest[:MAX_SEGMENT_BYTES].decode(errors="ignore")
        yield replace(utterance, text=text)
        rest = rest[len(text.encode()) :]


def _to_segment(
    live: LiveConversation, utterance: Utterance, times: tuple[datetime, datetime], name: str
) -> Segment:
    start, end = (max((at - live.started_at).total_seconds(), 0.0) for at in times)
    return Segment(
        id=name,
        text=utterance.text,
        speaker=utterance.speaker or build_label(0),
        start=round(start, 3),
        end=round(max(start, end), 3),
    )
