"""Voices of a run: its events by the model that they belong to, where several answer at once."""

from collections.abc import Sequence

from shared.domain.chats.run import Outcome, PlainEvent, Run, RunEvent, VoiceEnded, VoiceEvent

MAX_VOICES = 3
"""Maximum of models that answer one question at once."""


def tag_event(event: RunEvent, voice: int) -> RunEvent:
    """Return an event of a voice; those of the first stand as they are, for who knows no other."""
    if not voice or isinstance(event, VoiceEvent):
        return event
    return VoiceEvent(voice, event)


def untag_event(event: RunEvent) -> PlainEvent:
    """Return an event as its voice made it."""
    return event.event if isinstance(event, VoiceEvent) else event


def get_voice(event: RunEvent) -> int:
    return event.voice if isinstance(event, VoiceEvent) else 0


def select_voice(events: Sequence[RunEvent], voice: int) -> list[PlainEvent]:
    """Return the events of one voice, as it made them."""
    return [untag_event(event) for event in events if get_voice(event) == voice]


def count_voices(run: Run) -> int:
    return len(run.voices) or 1


def list_unended(events: Sequence[RunEvent], run: Run) -> list[int]:
    """Return the voices without an end; none where there is one voice, which ends with its run."""
    if not run.voices:
        return []
    ended = {get_voice(event) for event in events if isinstance(untag_event(event), VoiceEnded)}
    return [voice for voice in range(len(run.voices)) if voice not in ended]


def find_outcomes(events: Sequence[RunEvent], run: Run, *, unended: Outcome) -> list[Outcome]:
    """Return how each voice ended; `unended` for those without an end."""
    outcomes: list[Outcome] = [unended] * count_voices(run)
    for event in events:
        end = untag_event(event)
        if isinstance(end, VoiceEnded):
            outcomes[get_voice(event)] = end.outcome
    return outcomes


def choose_main_voice(outcomes: Sequence[Outcome], has_words: Sequence[bool]) -> int:
    """Return the first voice whose model answered, else the first that did not fail, else the first."""
    unfailed = [n for n, outcome in enumerate(outcomes) if outcome != "failed"]
    return next((n for n in unfailed if has_words[n]), next(iter(unfailed), 0))
