"""Spoken lines: where something was decided, a number was said, or a task was named; pure.

A summary cites them by their place in the transcript, so that code proves what it says.
"""

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Literal

from functions.process_conversation.days.decision_forms import is_decision
from functions.process_conversation.days.number_forms import find_number
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.ids import ConversationId
from shared.domain.value import value
from shared.retrieval.terms import tokenize

LineKind = Literal["decision", "amount", "count"]
MAX_QUOTE_CHARS = 300
MAX_LINE_CHARS = 10_000
"""Nobody says more in one breath; without spaces, cutting it takes time that grows with its square."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_QUESTION_ENDS = ("?", "？", "か", "か。")
_PROOF = 0.5
"""Of the terms of a task, a line that says it has so many."""


@value
class SpokenLine:
    """A sentence of a transcript: `segment` is the place of its line, from 0; `quote` names its speaker, but for the owner."""

    conversation_id: ConversationId
    segment: int
    kind: LineKind
    quote: str


def list_lines(conversation: Conversation) -> Iterator[SpokenLine]:
    """Yield the sentences of a whole conversation that decide something, or else say a number; questions do neither."""
    for place, segment in enumerate(conversation.named_segments):
        said_by = "" if segment.is_user or not is_name(segment.speaker) else f"{segment.speaker}: "
        for sentence in _SENTENCE_END.split(segment.text[:MAX_LINE_CHARS]):
            for part in wrap(sentence, MAX_QUOTE_CHARS):
                if kind := _tell_kind(part):
                    yield SpokenLine(
                        conversation_id=conversation.id,
                        segment=place,
                        kind=kind,
                        quote=said_by + part,
                    )


def find_segments(texts: Sequence[str], conversation: Conversation) -> list[int | None]:
    """Return for each text the place of the line that says it, None where none does."""
    if not texts:
        return []
    lines = [{*tokenize(segment.text)} for segment in conversation.transcript_segments]
    return [_find_nearest({*tokenize(text)}, lines) for text in texts]


def _tell_kind(sentence: str) -> LineKind | None:
    if sentence.rstrip().endswith(_QUESTION_ENDS):
        return None
    return "decision" if is_decision(sentence) else find_number(sentence)


def _find_nearest(terms: set[str], lines: Sequence[set[str]]) -> int | None:
    shared = [len(terms & line) for line in lines]
    best = max(shared, default=0)
    return shared.index(best) if terms and best >= _PROOF * len(terms) else None
