"""Numbering of a chat's documents: one counter, by which a number is given once and never means another; pure.

What stands in the chat's messages is cited by the number it was given there, in the texts that a model reads again
as well.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Self

from shared.domain.chats.chat import Card, DocumentKind, FilePage, Message, NumberedDocument

Source = Card | FilePage
_Name = tuple[DocumentKind, str, int | None]
"""Kind, id and page."""


@dataclass(slots=True)
class Numbering:
    """The numbers of a chat's documents, from 1; `sources` are those that may be cited: what this turn is given.

    Others were given earlier: each keeps its number until it is given again, for it may be deleted by now. Numbers
    up to `stored` stand in the chat's messages.
    """

    sources: dict[int, Source] = field(default_factory=dict)
    last: int = 0
    stored: int = 0
    _numbers: dict[_Name, int] = field(default_factory=dict)
    _used: set[int] = field(default_factory=set)

    def assign(self, source: Source) -> int:
        """Return the number of a document that is given, by which it may be cited."""
        number = self.number(source)
        self.sources.setdefault(number, source)
        return number

    def number(self, source: Source) -> int:
        """Return the number of a document; one that has none gets the next."""
        number = self._numbers.get(_get_name(source))
        if number is None:
            self.last += 1
            number = self._numbers[_get_name(source)] = self.last
            self._used.add(number)
        return number

    def reserve(self, document: NumberedDocument) -> None:
        """Keep the number of a document that was given; where two were given it at once, the first keeps it."""
        name = document.kind, document.id, document.page
        if document.number not in self._used and name not in self._numbers:
            self._numbers[name] = document.number
            self._used.add(document.number)
        self.last = max(self.last, document.number)

    def reserve_to(self, last_number: int) -> None:
        """Give none of the first `last_number` to another document."""
        self.last = max(self.last, last_number)

    def list_after(self, number: int) -> list[NumberedDocument]:
        """Return the documents with greater numbers."""
        return sorted(
            (
                NumberedDocument(number=n, kind=kind, id=name, page=page)
                for (kind, name, page), n in self._numbers.items()
                if n > number
            ),
            key=lambda document: document.number,
        )

    def copy(self) -> Self:
        return replace(
            self, sources=dict(self.sources), _numbers=dict(self._numbers), _used=set(self._used)
        )


def read_numbering(messages: Iterable[Message]) -> Numbering:
    """Return the numbers that documents have in a chat, those that its answers cite among them."""
    numbering = Numbering()
    answers = [
        message for message in messages if message.sender == "ai" and not message.is_imported
    ]
    for answer in answers:
        numbering.reserve_to(answer.last_number)
        for document in answer.documents:
            numbering.reserve(document)
    numbering.stored = numbering.last
    for answer in answers:
        for source in list_cited(answer):
            numbering.number(source)
    return numbering


def list_cited(answer: Message) -> Sequence[Source]:
    """Return the sources of an answer in the order of its markers, from 1."""
    if not answer.file_citations:
        return answer.cards
    files = {citation.number: citation.file for citation in answer.file_citations}
    return list(_merge(files, answer.cards))


def _merge(files: dict[int, FilePage], cards: Sequence[Card]) -> Iterator[Source]:
    """A number that is no file's is the next conversation's."""
    rest = iter(cards)
    for number in count(1):
        if number in files:
            yield files[number]
        elif card := next(rest, None):
            yield card
        else:
            return


def _get_name(source: Source) -> _Name:
    if isinstance(source, FilePage):
        return "file", source.id, source.page
    return "conversation", source.id, None
