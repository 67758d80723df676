"""Taint of a turn: what its owner said themselves, and what kinds of text of others its models have read.

Also called: taint tracking.
"""

from collections.abc import Sequence

from functions.chat.consent.own_words import Agree, stand_in_own_words
from shared.domain.provenance import TextKind, TextKinds, join_kinds


class Taint:
    """What a turn has read so far; all models of the turn add to the same. Without `agree` words alone decide."""

    def __init__(
        self, own_texts: Sequence[str], kinds: TextKinds = (), agree: Agree | None = None
    ) -> None:
        self.kinds = kinds
        self._own_texts = own_texts
        self._agree = agree

    def add(self, kind: TextKind) -> None:
        self.kinds = join_kinds(self.kinds, (kind,))

    async def find_kinds(self, *texts: str) -> TextKinds:
        """Return the kinds of text from which words may come: none where they are the owner's own."""
        if not self.kinds or await stand_in_own_words(texts, self._own_texts, self._agree):
            return ()
        return self.kinds
