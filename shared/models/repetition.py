"""Repetition of a text by a model that cannot stop: the same again and again, without an end; pure.

Also called: degenerate output.
"""

_CHECK_EVERY_CHARS = 512
_TAIL_CHARS = 4_000
_PROBE_CHARS = 24
_MAX_PERIOD_CHARS = 1_000
_MIN_REPEATED_CHARS = 1_200
_MIN_REPEATS = 4


class RepetitionWatch:
    """Looks at the end of a text as it grows."""

    def __init__(self) -> None:
        self._tail = ""
        self._unchecked = 0

    def sees_repetition(self, piece: str) -> bool:
        """Tell whether the text with this piece ends in one passage, said over and over."""
        self._unchecked += len(piece)
        self._tail += piece
        if self._unchecked < _CHECK_EVERY_CHARS:
            return False
        self._unchecked = 0
        self._tail = self._tail[-_TAIL_CHARS:]
        return ends_in_repetition(self._tail)


def ends_in_repetition(text: str) -> bool:
    """Tell whether a text ends in at least 1,200 characters that repeat one passage, four times or more."""
    last = text[-_PROBE_CHARS:]
    earlier = text.rfind(last, 0, len(text) - 1)
    if len(last) < _PROBE_CHARS or earlier < 0:
        return False
    period = len(text) - _PROBE_CHARS - earlier
    if period > _MAX_PERIOD_CHARS:
        return False
    repeats = max(_MIN_REPEATS, -(-_MIN_REPEATED_CHARS // period))
    return text.endswith(text[-period:] * repeats)
