"""Chats: messages become conversations, divided where the chat rested."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from functions.imports.formats.drafts import Draft, Turn, is_owner_name
from shared.domain.value import value

SILENCE = timedelta(hours=8)
"""A chat that rests for so long goes on as another conversation."""
MAX_TURNS = 1_000


@value
class Message:
    """A message of a chat."""

    at: datetime
    speaker: str
    text: str


def build_chat(
    messages: Sequence[Message], *, title: str, owner: str | None = None
) -> Iterator[Draft]:
    """Yield the conversations of a chat; `owner` is the name of whom the file belongs to."""
    for part in _divide(messages):
        turns = [_build_turn(message, part[0].at, owner) for message in part]
        yield Draft(turns=turns, title=title, started_at=part[0].at)


def _divide(messages: Sequence[Message]) -> Iterator[list[Message]]:
    part = list(messages[:1])
    for before, after in pairwise(messages):
        if after.at - before.at > SILENCE or len(part) == MAX_TURNS:
            yield part
            part = []
        part.append(after)
    if part:
        yield part


def _build_turn(message: Message, first: datetime, owner: str | None) -> Turn:
    return Turn(
        text=message.text,
        speaker=message.speaker,
        start=max(0.0, (message.at - first).total_seconds()),
        is_user=message.speaker == owner if owner else is_owner_name(message.speaker),
    )
