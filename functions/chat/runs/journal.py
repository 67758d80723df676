"""Journal of a run: its events in memory, which readers can join at any point and follow.

Also called: event log.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace

from shared.domain.chats.run import (
    AnswerText,
    AnswerWithdrawn,
    CitationShown,
    FileCited,
    OwnText,
    RunEnded,
    RunEvent,
    SequencedEvent,
    VoiceEnded,
)
from shared.domain.chats.voices import get_voice, select_voice, tag_event, untag_event

ShownEvent = AnswerText | CitationShown | FileCited
"""What an answer shows: its text, and each source before the piece that cites it."""


class Journal:
    """Events of one run. Only the run writes them; any number of tails reads them.

    Tails yield nothing before `open()`. After `abandon()` they stop without RunEnded: another
    process owns the run, and its further events are in the store. They stop at RunEnded, unless more was
    promised before it; then at `close()`.
    """

    def __init__(self) -> None:
        self.events: list[RunEvent] = []
        self._is_open = False
        self._is_abandoned = False
        self._is_more_promised = False
        self._new_event_signal: asyncio.Event | None = None

    def append(self, event: RunEvent) -> None:
        self.events.append(event)
        self._notify()

    def open(self) -> None:
        self._is_open = True
        self._notify()

    def promise_more(self) -> None:
        """Let tails wait after RunEnded for what may follow it, until `close()`."""
        self._is_more_promised = True

    def close(self) -> None:
        self._is_more_promised = False
        self._notify()

    def abandon(self) -> None:
        self._is_abandoned = True
        self._notify()

    async def tail(self, *, split_after_seq: int = 0) -> AsyncGenerator[SequencedEvent, None]:
        """Yield every event to the last; text that is there already comes in one piece.

        No piece reaches over `split_after_seq`.
        """
        seen_count, has_ended = 0, False
        while not self._is_abandoned:
            new_events = self.events[seen_count:] if self._is_open else []
            for numbered in merge_text(
                new_events, first=seen_count + 1, split_after_seq=split_after_seq
            ):
                yield numbered
                has_ended = has_ended or isinstance(numbered.event, RunEnded)
            seen_count += len(new_events)
            if has_ended and seen_count == len(self.events) and not self._is_more_promised:
                return
            if not self._is_open or seen_count == len(self.events):
                await self._wait_for_event()

    def _notify(self) -> None:
        if self._new_event_signal is not None:
            self._new_event_signal.set()
            self._new_event_signal = None

    async def _wait_for_event(self) -> None:
        if self._is_abandoned:
            return
        if self._new_event_signal is None:
            self._new_event_signal = asyncio.Event()
        await self._new_event_signal.wait()


class VoiceJournal:
    """A run's journal as one of its voices writes it."""

    def __init__(self, journal: Journal, voice: int = 0) -> None:
        self._journal = journal
        self._voice = voice

    def append(self, event: RunEvent) -> None:
        self._journal.append(tag_event(event, self._voice))

    def append_notice(self, text: str) -> None:
        """Append a text of ours as a paragraph of its own."""
        self.append(OwnText(f"\n\n{text}" if self.answer_text else text))

    @property
    def answer_text(self) -> str:
        return join_text(select_voice(self._journal.events, self._voice))

    @property
    def has_ended(self) -> bool:
        """Whether it is one of several voices, and has ended before the others."""
        events = select_voice(self._journal.events, self._voice)
        return any(isinstance(event, VoiceEnded) for event in events)


def join_text(events: Sequence[RunEvent]) -> str:
    return "".join(event.text for event in list_shown(events) if isinstance(event, AnswerText))


def join_model_text(events: Sequence[RunEvent]) -> str | None:
    """Return what the model wrote of an answer; None where all of it is the model's."""
    texts = [event for event in list_shown(events) if isinstance(event, AnswerText)]
    of_model = [text for text in texts if not isinstance(text, OwnText)]
    return None if len(of_model) == len(texts) else join_text(of_model)


def list_shown(events: Sequence[RunEvent]) -> list[ShownEvent]:
    """Return text and sources of an answer, without what was withdrawn."""
    shown: list[ShownEvent] = []
    for event in events:
        match event:
            case AnswerText() | CitationShown() | FileCited():
                shown.append(event)
            case AnswerWithdrawn(chars):
                shown = _withdraw(shown, chars)
    return shown


def _withdraw(shown: Sequence[ShownEvent], chars: int) -> list[ShownEvent]:
    """Leave out the last characters, and the sources after the text that is left."""
    kept = list(shown)
    while kept:
        last = kept.pop()
        if isinstance(last, AnswerText) and len(last.text) > chars:
            rest = replace(last, text=last.text[: len(last.text) - chars])
            return [*kept, rest]
        chars -= len(last.text) if isinstance(last, AnswerText) else 0
    return kept


def merge_text(
    events: Sequence[RunEvent], *, first: int, split_after_seq: int = 0
) -> Iterator[SequencedEvent]:
    """Number events from `first` on and join adjacent text of a voice, but not over `split_after_seq`.

    Who reads along does not learn whose words a text is.
    """
    pieces: list[str] = []
    voice = 0
    for seq, event in enumerate(events, first):
        text = untag_event(event)
        is_text = isinstance(text, AnswerText)
        if pieces and (not is_text or get_voice(event) != voice or seq == split_after_seq + 1):
            yield SequencedEvent(seq - 1, tag_event(AnswerText("".join(pieces)), voice))
            pieces = []
        if isinstance(text, AnswerText):
            pieces.append(text.text)
            voice = get_voice(event)
        else:
            yield SequencedEvent(seq, event)
    if pieces:
        last = tag_event(AnswerText("".join(pieces)), voice)
        yield SequencedEvent(first + len(events) - 1, last)
