"""People over HTTP, and their assignment to speakers of a conversation."""

from starlette.responses import Response

from functions.process_conversation.deps import LibraryDeps
from functions.process_conversation.library.pagination import list_page
from functions.process_conversation.library.schemas import (
    AssignQuery,
    OffsetPageQuery,
    PersonIn,
    PersonNameIn,
    PersonOut,
)
from shared.domain.conversation import Conversation, Speaker
from shared.domain.errors import Invalid, NotFound
from shared.domain.ids import ConversationId, PersonId, UserId
from shared.domain.person import Person
from shared.edge.pagination import build_array_response
from shared.edge.routes import Call, route
from shared.edge.schemas import OkOut


@route(
    "GET",
    "/v1/users/people",
    "List people, newest first; X-Next-Cursor leads to the next page",
    errors=(401, 422),
)
async def list_people(
    deps: LibraryDeps, call: Call[None, OffsetPageQuery]
) -> list[PersonOut] | Response:
    page = await list_page(deps.stores.people, call)
    return build_array_response(
        list(map(PersonOut.model_validate, page.items)), PersonOut, page.next_cursor
    )


@route("POST", "/v1/users/people", "Name a person", errors=(400, 401, 409, 413, 415, 422))
async def add_person(deps: LibraryDeps, call: Call[PersonIn]) -> PersonOut:
    now = deps.clock.now()
    person_id = PersonId(call.body.id or deps.new_id())
    person = Person(id=person_id, name=call.body.name, created_at=now, updated_at=now)
    return PersonOut.model_validate(await deps.stores.people.add(call.uid, person))


@route("GET", "/v1/users/people/{person_id}", "Read a person", errors=(401, 404))
async def get_person(deps: LibraryDeps, call: Call) -> PersonOut:
    return PersonOut.model_validate(await deps.stores.people.get(call.uid, call.path["person_id"]))


@route(
    "PATCH",
    "/v1/users/people/{person_id}/name",
    "Rename a person, in every conversation too",
    errors=(401, 404, 422),
    is_query_accepted=True,
)
async def rename_person(deps: LibraryDeps, call: Call[PersonNameIn]) -> PersonOut:
    """Rename the person first: the next attempt completes an interrupted one."""
    person = await deps.stores.people.change(
        call.uid, call.path["person_id"], name=call.body.value, updated_at=deps.clock.now()
    )
    await deps.stores.people.propagate_name(call.uid, person)
    return PersonOut.model_validate(person)


@route(
    "DELETE",
    "/v1/users/people/{person_id}",
    "Delete a person; their speakers are unnamed again",
    status=204,
    errors=(401, 404),
)
async def delete_person(deps: LibraryDeps, call: Call) -> None:
    """Unassign the speakers first: the next attempt can still find the person."""
    person = await deps.stores.people.get(call.uid, call.path["person_id"])
    await deps.stores.people.unassign(call.uid, person.id)
    await deps.stores.people.remove(call.uid, person.id)


@route(
    "PATCH",
    "/v1/conversations/{conversation_id}/assign-speaker/{speaker}",
    "Say who a speaker is; without a value, take it back",
    errors=(401, 404, 422),
)
async def assign_speaker(deps: LibraryDeps, call: Call[None, AssignQuery]) -> OkOut:
    conversation_id = ConversationId(call.path["conversation_id"])
    conversation = await deps.stores.conversations.get(call.uid, conversation_id)
    label = _find_label(conversation, call.path["speaker"])
    speaker = await _resolve_speaker(deps, call.uid, call.query)
    await deps.stores.conversations.assign_speaker(call.uid, conversation_id, label, speaker)
    return OkOut()


async def _resolve_speaker(deps: LibraryDeps, uid: UserId, query: AssignQuery) -> Speaker | None:
    if not query.value:
        return None
    if query.assign_type == "is_user":
        if query.value not in ("true", "false"):
            raise Invalid("value: true or false is expected")
        return Speaker(is_user=query.value == "true")
    person = await deps.stores.people.get(uid, query.value)
    return Speaker(name=person.name, person_id=person.id)


def _find_label(conversation: Conversation, speaker: str) -> str:
    """Return the speaker's label; the old app counts speakers. Raises NotFound."""
    labels = {segment.speaker for segment in conversation.transcript_segments}
    numbered_label = f"SPEAKER_{speaker:0>2}"
    match_label = next((label for label in (speaker, numbered_label) if label in labels), None)
    if match_label is None:
        raise NotFound("No speaker of this conversation has this label")
    return match_label


ROUTES = (
    list_people,
    add_person,
    get_person,
    rename_person,
    delete_person,
    assign_speaker,
)
