"""Handing in: a recorded conversation is stored once, with the people and the place that are known."""

from collections.abc import Sequence
from dataclasses import replace

from shared.domain.conversations.conversation import Conversation, Speaker
from shared.domain.ids import PersonId, UserId, is_id
from shared.domain.store.documents import Write
from shared.library.deps import IngestionDeps
from shared.library.ingestion import ingest
from shared.library.named_people import find_named_people
from shared.library.validate_conversation import validate_conversation

MAX_PEOPLE_LOOKUPS = 100
"""People looked up for one conversation: each is a read that costs."""


async def hand_in(
    deps: IngestionDeps,
    uid: UserId,
    conversation: Conversation,
    *,
    also: Sequence[Write] = (),
    is_counted: bool = False,
) -> Conversation:
    """Store a recorded conversation once, with its people and its place; return what is stored.

    The writes `also` are made with a new one; for `is_counted` see ingest(). Raises as ingest(), Invalid and TooLarge.
    """
    validate_conversation(conversation, deps.clock.now())
    named_conversation = await _resolve_speakers(deps, uid, _sort_segments(conversation))
    placed_conversation = await _add_place(deps, uid, named_conversation)
    return await ingest(deps, uid, placed_conversation, also=also, is_counted=is_counted)


def _sort_segments(conversation: Conversation) -> Conversation:
    """Return it with what was said first in front; as it came where times are missing."""
    segments = conversation.transcript_segments
    if sum(not (segment.start or segment.end) for segment in segments) > 1:
        return conversation
    in_order = sorted(segments, key=lambda segment: segment.start)
    return replace(conversation, transcript_segments=tuple(in_order))


async def _add_place(deps: IngestionDeps, uid: UserId, conversation: Conversation) -> Conversation:
    """Return it with the place where the owner was meanwhile, if it came without one."""
    if conversation.geolocation is not None:
        return conversation
    profile = await deps.stores.profiles.get(uid)
    place = profile.find_place(conversation.started_at, conversation.finished_at)
    return replace(conversation, geolocation=place)


async def _resolve_speakers(
    deps: IngestionDeps, uid: UserId, conversation: Conversation
) -> Conversation:
    """Name the speakers that are people of the owner, by the recorder's id or by the same name.

    Nobody becomes a person by being named: a transcript may name anyone.
    """
    segments = conversation.transcript_segments
    person_ids = {
        s.speaker: PersonId(s.person_id) for s in segments if s.person_id and is_id(s.person_id)
    }
    names = await deps.stores.people.load_names(
        uid, sorted(set(person_ids.values()))[:MAX_PEOPLE_LOOKUPS]
    )
    speakers = {
        label: Speaker(name=names[person_id], person_id=person_id)
        for label, person_id in person_ids.items()
        if person_id in names
    } | await find_named_people(deps.stores, uid, conversation)
    present_ids = {speaker.person_id for speaker in speakers.values() if speaker.person_id}
    return replace(conversation, speakers=speakers, person_ids=tuple(sorted(present_ids)))
