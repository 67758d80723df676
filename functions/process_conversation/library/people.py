"""People over HTTP, and who speaks in a conversation."""

from starlette.responses import Response

from functions.process_conversation.library.listing import array, listed
from functions.process_conversation.library.wire import (
    AssignQuery,
    Ok,
    PageQuery,
    PersonIn,
    PersonNameQuery,
    PersonOut,
)
from functions.process_conversation.wiring import LibraryDeps
from shared.domain.conversation import Conversation, Speaker
from shared.domain.errors import Invalid, NotFound
from shared.domain.ids import ConversationId, PersonId, UserId
from shared.domain.person import Person
from shared.edge.http import Call, Endpoint


async def list_people(deps: LibraryDeps, call: Call[None]) -> Response:
    page = await listed(deps.people, call)
    return array(list(map(_out, page.items)), PersonOut, page.next_cursor)


async def add_person(deps: LibraryDeps, call: Call[PersonIn]) -> PersonOut:
    now = deps.clock.now()
    person_id = PersonId(call.body.id or deps.new_id())
    person = Person(id=person_id, name=call.body.name, created_at=now, updated_at=now)
    return _out(await deps.people.add(call.uid, person))


async def get_person(deps: LibraryDeps, call: Call[None]) -> PersonOut:
    return _out(await deps.people.get(call.uid, call.path["person_id"]))


async def rename_person(deps: LibraryDeps, call: Call[None]) -> PersonOut:
    """The person first: what is cut short here is made up for by the next attempt."""
    query: PersonNameQuery = call.query
    renamed = await deps.people.change(
        call.uid, call.path["person_id"], name=query.value, updated_at=deps.clock.now()
    )
    await deps.people.spread(call.uid, renamed)
    return _out(renamed)


async def delete_person(deps: LibraryDeps, call: Call[None]) -> None:
    """The conversations first: a person who is still there can be deleted again."""
    person = await deps.people.get(call.uid, call.path["person_id"])
    await deps.people.withdraw(call.uid, person.id)
    await deps.people.remove(call.uid, person.id)


async def assign_speaker(deps: LibraryDeps, call: Call[None]) -> Ok:
    conversation_id = ConversationId(call.path["conversation_id"])
    conversation = await deps.conversations.get(call.uid, conversation_id)
    label = _label(conversation, call.path["speaker"])
    speaker = await _speaker(deps, call.uid, call.query)
    await deps.conversations.assign(call.uid, conversation_id, label, speaker)
    return Ok()


async def _speaker(deps: LibraryDeps, uid: UserId, query: AssignQuery) -> Speaker | None:
    if not query.value:
        return None
    if query.assign_type == "is_user":
        if query.value not in ("true", "false"):
            raise Invalid("value: true or false is expected")
        return Speaker(is_user=query.value == "true")
    person = await deps.people.get(uid, query.value)
    return Speaker(name=person.name, person_id=person.id)


def _label(conversation: Conversation, named: str) -> str:
    """Return the speaker's label; the old app counts speakers. Raises NotFound."""
    labels = {segment.speaker for segment in conversation.transcript_segments}
    numbered = f"SPEAKER_{named:0>2}"
    found = next((label for label in (named, numbered) if label in labels), None)
    if found is None:
        raise NotFound("Nobody of this label speaks in this conversation")
    return found


def _out(person: Person) -> PersonOut:
    return PersonOut.model_validate(person)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/users/people",
        handler=list_people,
        summary="List people, newest first; X-Next-Cursor leads to the next page",
        query=PageQuery,
        response=list[PersonOut],
        errors=(401, 422),
    ),
    Endpoint(
        method="POST",
        path="/v1/users/people",
        handler=add_person,
        summary="Name a person",
        body=PersonIn,
        response=PersonOut,
        errors=(400, 401, 409, 413, 415, 422),
    ),
    Endpoint(
        method="GET",
        path="/v1/users/people/{person_id}",
        handler=get_person,
        summary="Read a person",
        response=PersonOut,
        errors=(401, 404),
    ),
    Endpoint(
        method="PATCH",
        path="/v1/users/people/{person_id}/name",
        handler=rename_person,
        summary="Rename a person, in every conversation too",
        query=PersonNameQuery,
        response=PersonOut,
        errors=(401, 404, 422),
    ),
    Endpoint(
        method="DELETE",
        path="/v1/users/people/{person_id}",
        handler=delete_person,
        summary="Delete a person; their speakers are unnamed again",
        status=204,
        errors=(401, 404),
    ),
    Endpoint(
        method="PATCH",
        path="/v1/conversations/{conversation_id}/assign-speaker/{speaker}",
        handler=assign_speaker,
        summary="Say who a speaker is; without a value, take it back",
        query=AssignQuery,
        response=Ok,
        errors=(401, 404, 422),
    ),
)
