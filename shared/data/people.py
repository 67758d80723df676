"""The people the owner talks with, and the conversations in which they speak."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from shared.data.codec import load_all
from shared.data.records import Records
from shared.domain.documents import Document, Fields, Query, Update, Where
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import PersonId, UserId
from shared.domain.person import Person

_BATCH = 400


class People(Records[Person]):
    """A user's people. Their names stand in the conversations too, where search reads them."""

    kind = Person
    collection = "people"
    noun = "Person"

    def is_same(self, stored: Person, given: Person) -> bool:
        return stored.name == given.name

    async def named(self, uid: UserId, ids: Sequence[PersonId]) -> dict[PersonId, str]:
        """Return the names of those who exist."""
        found = await self._documents.get_many([self.path(uid, name) for name in ids])
        return {person.id: person.name for person in load_all(Person, [d for d in found if d])}

    async def spread(self, uid: UserId, person: Person) -> None:
        """Write a person's name into every conversation; again is the same."""
        await self._rewrite(uid, person.id, lambda document: _renamed(document, person))

    async def withdraw(self, uid: UserId, person_id: PersonId) -> None:
        """Leave a person's speakers unnamed in every conversation."""
        await self._rewrite(uid, person_id, lambda document: _unnamed(document, person_id))

    async def _rewrite(
        self, uid: UserId, person_id: PersonId, change: Callable[[Document], Fields]
    ) -> None:
        """Change every conversation a person speaks in; a batch that was written to is read again."""
        query = Query(
            collection=f"users/{uid}/conversations",
            where=(Where("person_ids", "array_contains", person_id),),
            limit=_BATCH,
            fields=("speakers", "person_ids"),
        )
        while found := await self._documents.query(query):
            try:
                await self._documents.write(*(Update(d.path, change(d), d.version) for d in found))
            except PreconditionFailed:
                continue
            query = replace(query, start_after=(found[-1].id,))


def _renamed(document: Document, person: Person) -> Fields:
    speakers = document.fields["speakers"].items()
    named = {
        label: {**who, "name": person.name} if who["person_id"] == person.id else who
        for label, who in speakers
    }
    return {"speakers": named}


def _unnamed(document: Document, person_id: PersonId) -> Fields:
    speakers = document.fields["speakers"].items()
    left = {label: who for label, who in speakers if who["person_id"] != person_id}
    others = [one for one in document.fields["person_ids"] if one != person_id]
    return {"speakers": left, "person_ids": others}
