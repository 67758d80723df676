"""Conversations as they stand, decoded and hashed once for each version that is read."""

from collections import OrderedDict
from collections.abc import Sequence

from shared.data.codec import load_all
from shared.domain.conversation import Conversation, content_hash, said_hash
from shared.domain.documents import Document
from shared.domain.value import value

HELD_CHARS = 10_000_000
SEGMENT_CHARS = 300
"""What a segment takes in memory beside its text."""


@value
class Standing:
    """A conversation without its parts, as one version of its document tells it."""

    conversation: Conversation
    said_hash: str
    content_hash: str
    version: str

    @property
    def chars(self) -> int:
        return sum(SEGMENT_CHARS + len(said.text) for said in self.conversation.transcript_segments)


class Decoded:
    """Those read last, some 20 MB: questions in a row find much the same conversations."""

    def __init__(self, held_chars: int = HELD_CHARS) -> None:
        self._room = held_chars
        self._held: OrderedDict[str, Standing] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

    def all(self, documents: Sequence[Document | None]) -> list[Standing]:
        """Return those that are there and can be decoded."""
        return [standing for each in documents if each for standing in self._standing(each)]

    def _standing(self, document: Document) -> list[Standing]:
        held = self._held.get(document.path)
        if held is not None and held.version == document.version:
            self._held.move_to_end(document.path)
            return [held]
        self._drop(document.path)
        fresh = [
            Standing(
                conversation=c,
                said_hash=said,
                content_hash=content_hash(c, said=said),
                version=document.version,
            )
            for c in load_all(Conversation, [document])
            for said in [said_hash(c)]
        ]
        for standing in fresh:
            self._keep(document.path, standing)
        return fresh

    def _keep(self, path: str, standing: Standing) -> None:
        self._held[path] = standing
        self._room -= standing.chars
        while self._room < 0:
            self._drop(next(iter(self._held)))

    def _drop(self, path: str) -> None:
        dropped = self._held.pop(path, None)
        self._room += dropped.chars if dropped else 0
