"""Person: somebody the user talks with."""

from datetime import datetime

from shared.domain.ids import PersonId
from shared.domain.value import value


@value
class Person:
    """Known by the name the owner gave; times in UTC. Search finds them by `name_words`.

    `role` is what they are to the owner, in the owner's words ("my sister"); empty where nobody said so.
    """

    id: PersonId
    name: str
    created_at: datetime
    updated_at: datetime
    name_words: tuple[str, ...] = ()
    role: str = ""
