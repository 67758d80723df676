"""People that a user talks with, and who of them speaks in a conversation."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from shared.data.people.present_names import person_path, read_names
from shared.data.people.renewals import Renewals
from shared.data.store.codec import load_all
from shared.data.store.records import Records
from shared.domain.conversations.renewal import Renewal
from shared.domain.errors import NotFound, PreconditionFailed
from shared.domain.ids import PersonId, UserId
from shared.domain.people.person import Person
from shared.domain.store.documents import Document, Fields, Order, Query, Update, Where, Write
from shared.ports import Transaction
from shared.retrieval.terms import tokenize

_BATCH_SIZE = 25
"""Conversations at once: each may name the speakers of 2,000 segments, and a commit holds 7 MB."""
MAX_WORDS = 30
"""Limit of Firestore's `array-contains-any`."""
_MAX_FOUND = 100


class People(Records[Person]):
    """A user's people. Conversations and rows of the index name them by id: a new name is one write."""

    kind = Person
    collection = "people"
    noun = "Person"

    def prepare(self, record: Person) -> Person:
        return replace(record, name_words=_list_words(record))

    async def build_follow_ups(
        self, tx: Transaction, uid: UserId, before: Person, after: Person
    ) -> Sequence[Write]:
        """Let what models wrote about a person follow their new name."""
        if before.name == after.name:
            return ()
        at = after.updated_at
        renewal = Renewal(subject=after.id, requested_at=at, due_at=at)
        return [Renewals(self._documents).build_request(uid, renewal)]

    def is_same(self, stored: Person, record: Person) -> bool:
        return stored.name == record.name

    async def load_names(self, uid: UserId, ids: Sequence[PersonId]) -> dict[PersonId, str]:
        """Return the names of those who exist."""
        documents = await self._documents.get_many([person_path(uid, name) for name in ids])
        return read_names(documents)

    async def list_by_words(self, uid: UserId, words: Sequence[str]) -> list[Person]:
        """Return those who have one of the first MAX_WORDS words in their name, as terms of a search."""
        if not words:
            return []
        query = Query(
            collection=f"users/{uid}/{self.collection}",
            where=(Where("name_words", "array_contains_any", list(words[:MAX_WORDS])),),
            limit=_MAX_FOUND,
        )
        return load_all(Person, await self._documents.query(query))

    async def list_with_roles(self, uid: UserId, *, limit: int) -> list[Person]:
        """Return those of whom the owner said what they are to them."""
        query = Query(
            collection=f"users/{uid}/{self.collection}",
            where=(Where("role", ">", ""),),
            order_by=(Order("role"),),
            limit=limit,
        )
        return load_all(Person, await self._documents.query(query))

    async def make_findable(self, uid: UserId, ids: Sequence[PersonId]) -> None:
        """Store the words of names that were stored without; rows that name these people may follow."""
        paths = [person_path(uid, name) for name in ids]
        documents = await self._documents.get_many(paths) if paths else []
        for person in load_all(Person, documents):
            if person.name_words != _list_words(person):
                with suppress(NotFound):  # deleted meanwhile
                    await self.change(uid, person.id)

    async def unassign(self, uid: UserId, person_id: PersonId) -> None:
        """Leave a person's speakers unnamed in every conversation."""
        await self._rewrite(
            uid, person_id, lambda document: _build_remaining_speakers(document, person_id)
        )

    async def _rewrite(
        self, uid: UserId, person_id: PersonId, change: Callable[[Document], Fields]
    ) -> None:
        """Change every conversation a person speaks in; a batch that changed is read again."""
        query = Query(
            collection=f"users/{uid}/conversations",
            where=(Where("person_ids", "array_contains", person_id),),
            limit=_BATCH_SIZE,
            fields=("speakers", "assignments", "person_ids"),
        )
        while documents := await self._documents.query(query):
            try:
                await self._documents.write(
                    *(Update(d.path, change(d), d.version) for d in documents)
                )
            except PreconditionFailed:
                continue
            query = replace(query, start_after=(documents[-1].id,))


def _list_words(person: Person) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tokenize(person.name)))


def _build_remaining_speakers(document: Document, person_id: PersonId) -> Fields:
    speakers = document.fields["speakers"].items()
    assignments = document.fields.get("assignments", ())
    return {
        "speakers": {label: who for label, who in speakers if who["person_id"] != person_id},
        "assignments": [a for a in assignments if a["speaker"]["person_id"] != person_id],
        "person_ids": [other for other in document.fields["person_ids"] if other != person_id],
    }
