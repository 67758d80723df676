"""Named people: speakers of a conversation whom the owner knows by the same name.

Also called: entity resolution.
"""

from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation, Speaker
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.ids import UserId

MAX_NAME_LOOKUPS = 30
"""Names that one query looks for."""


async def find_named_people(
    stores: Stores, uid: UserId, conversation: Conversation
) -> dict[str, Speaker]:
    """Return the people whose names stand in place of a label, by name; the first of several."""
    others = [s for s in conversation.transcript_segments if not (s.is_user or s.person_id)]
    names = [name for name in dict.fromkeys(s.speaker for s in others) if is_name(name)]
    people = await stores.people.list_by_values(uid, "name", names[:MAX_NAME_LOOKUPS])
    oldest_last = sorted(people, key=lambda person: person.created_at, reverse=True)
    return {p.name: Speaker(name=p.name, person_id=p.id) for p in oldest_last}
