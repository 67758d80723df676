"""Present names: what people are called now, read beside what names them by id."""

from collections.abc import Iterable

from shared.data.store.codec import load_all
from shared.domain.ids import PersonId, UserId
from shared.domain.people.person import Person
from shared.domain.store.documents import Document


def person_path(uid: UserId, person_id: PersonId) -> str:
    return f"users/{uid}/people/{person_id}"


def read_names(documents: Iterable[Document | None]) -> dict[PersonId, str]:
    """Return the names of the people whose documents there are."""
    return {person.id: person.name for person in load_all(Person, documents)}
