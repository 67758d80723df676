"""Hearing preferences: what an owner tells transcribers of their speech."""

from shared.domain.value import value

MAX_WORDS = 100
MAX_WORD_CHARS = 64
MAX_HINT_CHARS = 800
"""What a transcriber is told at most; Whisper reads about so much."""


@value
class Hearing:
    """`vocabulary` are names and words that transcribers mistake. With `single_language`, all is in the owner's language."""

    vocabulary: tuple[str, ...] = ()
    single_language: bool = False


def build_hint(vocabulary: tuple[str, ...]) -> str:
    """Return the words as a transcriber reads them, as many as it takes; empty without any."""
    hint = ""
    for word in vocabulary:
        longer = f"{hint}, {word}" if hint else word
        if len(longer) > MAX_HINT_CHARS:
            break
        hint = longer
    return hint
