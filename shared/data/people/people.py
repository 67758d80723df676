"""People that a user talks with, and their names in conversations."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from shared.data.store.codec import load_all
from shared.data.store.records import Records
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import PersonId, UserId
from shared.domain.people.person import Person
from shared.domain.store.documents import Document, Fields, Query, Update, Where

_BATCH_SIZE = 25
"""Conversations at once: each may name the speakers of 2,000 segments, and a commit holds 7 MB."""


class People(Records[Person]):
    """A user's people. Their names stand in the conversations too, where search reads them."""

    kind = Person
    collection = "people"
    noun = "Person"

    def is_same(self, stored: Person, record: Person) -> bool:
        return stored.name == record.name

    async def load_names(self, uid: UserId, ids: Sequence[PersonId]) -> dict[PersonId, str]:
        """Return the names of those who exist."""
        documents = await self._documents.get_many([self.document_path(uid, name) for name in ids])
        return {person.id: person.name for person in load_all(Person, documents)}

    async def propagate_name(self, uid: UserId, person: Person) -> None:
        """Write a person's name into every conversation they speak in; idempotent."""
        await self._rewrite(
            uid, person.id, lambda document: _build_renamed_speakers(document, person)
        )

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


def _build_renamed_speakers(document: Document, person: Person) -> Fields:
    def rename(who: dict[str, Any]) -> dict[str, Any]:
        return {**who, "name": person.name} if who["person_id"] == person.id else who

    assignments = document.fields.get("assignments", ())
    return {
        "speakers": {label: rename(who) for label, who in document.fields["speakers"].items()},
        "assignments": [{**each, "speaker": rename(each["speaker"])} for each in assignments],
    }


def _build_remaining_speakers(document: Document, person_id: PersonId) -> Fields:
    speakers = document.fields["speakers"].items()
    assignments = document.fields.get("assignments", ())
    return {
        "speakers": {label: who for label, who in speakers if who["person_id"] != person_id},
        "assignments": [a for a in assignments if a["speaker"]["person_id"] != person_id],
        "person_ids": [other for other in document.fields["person_ids"] if other != person_id],
    }
