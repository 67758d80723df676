"""Chunks of a transcript: each turn, or piece of a long turn, is a row of the index.

Also called: text splitter.
"""

import textwrap
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from shared.domain.conversations.conversation import Segment
from shared.domain.ids import PersonId
from shared.domain.value import value

MAX_PIECE_CHARS = 1_000
"""A longer turn is split, so that a hit in a monologue is as precise as in a dialogue."""
OWNER_LABEL = "User"


@value
class Chunk:
    """A turn, or a piece of a long one; segments are counted from 0.

    A person who is known speaks by id alone: the name may change.
    """

    segment: int
    speaker: str
    text: str
    person_id: PersonId | None = None


def split_into_chunks(
    segments: Sequence[Segment], people: Collection[PersonId] = ()
) -> list[Chunk]:
    """Split a transcript in which these people are known; every word stands in exactly one chunk."""
    return list(
        chain.from_iterable(_split_turn(n, segment, people) for n, segment in enumerate(segments))
    )


def format_turn(segment: Segment) -> str:
    """Write a turn as people read it, on one line: the speaker, then the text.

    No text begins a line of another speaker, and nobody else is called as the owner is.
    """
    label = OWNER_LABEL if segment.is_user else _write_label(segment.speaker)
    return f"{label}: {' '.join(segment.text.split())}"


@lru_cache
def _write_label(speaker: str) -> str:
    label = " ".join(speaker.split())
    return f"Speaker {label}" if _is_like_owner(label) else label


def get_speaker_label(segment: Segment) -> str:
    return OWNER_LABEL if segment.is_user else segment.speaker


def _is_like_owner(label: str) -> bool:
    letters = filter(str.isalpha, label.partition(":")[0])
    return "".join(letters).casefold() == OWNER_LABEL.casefold()


def _split_turn(number: int, segment: Segment, people: Collection[PersonId]) -> Iterator[Chunk]:
    turn_text = segment.text.strip()
    pieces = (
        [turn_text]
        if 0 < len(turn_text) <= MAX_PIECE_CHARS
        else textwrap.wrap(turn_text, MAX_PIECE_CHARS)
    )
    named = PersonId(segment.person_id or "")
    person_id = named if named in people else None
    speaker = "" if person_id else get_speaker_label(segment)
    for text in pieces:
        yield Chunk(segment=number, speaker=speaker, text=text, person_id=person_id)
