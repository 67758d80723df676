"""Own speakers: the owner behind their own names in a stored conversation."""

from datetime import datetime

from shared import telemetry
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.own_names import build_name_key
from shared.domain.conversations.owner_marking import mark_owner
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.errors import Conflict, Invalid, NotFound, Unavailable
from shared.domain.ids import UserId
from shared.library.named_people import find_named_people


async def mark_new_owner(
    stores: Stores, uid: UserId, whole: Conversation, own_names: tuple[str, ...], *, now: datetime
) -> bool:
    """Mark the owner where a client stored the conversation itself; return whether anybody changed.

    Reads nothing where no speaker has one of their names. Raises Unavailable: call again.
    """
    labels = {segment.speaker for segment in whole.transcript_segments} - whole.speakers.keys()
    names = {build_name_key(label) for label in labels if is_name(label)}
    if names.isdisjoint(map(build_name_key, own_names)):
        return False
    return await mark_stored_owner(stores, uid, whole, own_names, now=now)


async def mark_stored_owner(
    stores: Stores,
    uid: UserId,
    whole: Conversation,
    own_names: tuple[str, ...],
    *,
    now: datetime,
    is_read_later: bool = False,
) -> bool:
    """Return whether the speakers changed; then the trigger has the conversation processed again.

    With `is_read_later`, that is left to a renewal. Raises Unavailable: call again.
    """
    try:
        people = await find_named_people(stores, uid, whole)
        if mark_owner(whole, own_names, people) == whole:
            return False
        await stores.transcript_edits.assign(
            uid,
            whole,
            lambda current: mark_owner(current, own_names, people),
            now=now,
            is_read_later=is_read_later,
        )
    except NotFound:
        return False
    except Invalid:  # its client filled the document: others are not held up by it
        telemetry.warning("owner_not_marked")
        return False
    except Conflict as error:
        raise Unavailable("The conversation changed meanwhile") from error
    return True
