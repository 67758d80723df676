"""People over HTTP, and their assignment to speakers of a conversation.

Also called: contacts, address book.
"""

from itertools import accumulate, takewhile

from starlette.responses import Response

from functions.library.pagination import build_page_response, list_page
from functions.library.people.person_schemas import (
    AssignQuery,
    NamedSpeakerOut,
    PeopleQuery,
    PersonNameIn,
    PersonOut,
    PersonRoleIn,
    RenewalsOut,
)
from shared.domain.conversations.assignments import assign_label
from shared.domain.conversations.conversation import Conversation, Speaker
from shared.domain.conversations.derived_ids import build_derived_id
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.errors import Conflict, Invalid, NotFound
from shared.domain.ids import ConversationId, PersonId, UserId
from shared.domain.people.person import Person
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library.deps import LibraryDeps
from shared.library.own_names import add_own_name
from shared.library.record_schemas import PersonIn

MAX_CONVERSATIONS = 100
"""Conversations whose speakers are listed: their transcripts are read, as far as MAX_TEXT_BYTES holds them."""
MAX_TEXT_BYTES = 2_097_152
MAX_SPEAKERS = 200


@route(
    "GET",
    "/v1/users/people",
    "List people, newest first; X-Next-Cursor leads to the next page",
    errors=(401, 422),
)
async def list_people(
    deps: LibraryDeps, call: Call[None, PeopleQuery]
) -> list[PersonOut] | Response:
    return build_page_response(await list_page(deps.stores.people, call), PersonOut)


@route(
    "GET",
    "/v1/users/speakers",
    "List who speaks by name in the newest conversations, without the owner, those with most of them first",
    errors=(401,),
)
async def list_named_speakers(deps: LibraryDeps, call: Call) -> list[NamedSpeakerOut]:
    conversations = await _load_newest(deps, call.uid)
    spoken: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        for name in dict.fromkeys(
            segment.speaker for segment in conversation.named_segments if not segment.is_user
        ):
            if is_name(name):
                spoken.setdefault(name, []).append(conversation)
    by_count = sorted(spoken.items(), key=lambda each: -len(each[1]))
    return [
        NamedSpeakerOut(
            name=name,
            conversation_count=len(found),
            last_conversation_id=found[0].id,
            last_spoke_at=found[0].started_at,
        )
        for name, found in by_count[:MAX_SPEAKERS]
    ]


async def _load_newest(deps: LibraryDeps, uid: UserId) -> list[Conversation]:
    """Load the newest conversations with their transcripts, as many as MAX_TEXT_BYTES holds."""
    store = deps.stores.conversations
    newest = await store.list_between(uid, limit=MAX_CONVERSATIONS)
    sizes = accumulate(conversation.text_bytes for conversation in newest)
    count = sum(1 for _ in takewhile(lambda size: size <= MAX_TEXT_BYTES, sizes))
    found = await store.find_many(
        uid, [conversation.id for conversation in newest[: max(1, count)]]
    )
    whole = await store.load_transcripts(uid, found)
    return [loaded or stored for loaded, stored in zip(whole, found, strict=True)]


@route(
    "GET",
    "/v1/users/renewals",
    "Say how many conversations were read again, of those that follow a new name",
    errors=(401,),
)
async def show_renewals(deps: LibraryDeps, call: Call) -> RenewalsOut:
    renewals = await deps.stores.renewals.list_open(call.uid)
    due_times = [renewal.due_at for renewal in renewals if renewal.due_at]
    return RenewalsOut(
        done=sum(renewal.done for renewal in renewals),
        total=sum(renewal.total for renewal in renewals),
        continues_at=max(due_times, default=None),
    )


@route("POST", "/v1/users/people", "Name a person", errors=(400, 401, 409, 413, 415, 422))
async def add_person(deps: LibraryDeps, call: CreatingCall[PersonIn]) -> PersonOut:
    """Return the person there is when the name is known: released apps send no id."""
    body, people = call.body, deps.stores.people
    if body.id is not None:
        return PersonOut.model_validate(
            await people.add(call.uid, _build_person(deps, body.id, body))
        )
    if known := await people.list_by_values(call.uid, "name", [body.name]):
        return PersonOut.model_validate(known[0])
    try:
        person = _build_person(deps, build_derived_id("person", "name", body.name), body)
        return PersonOut.model_validate(await people.add(call.uid, person))
    except Conflict:  # that person was renamed since
        person = _build_person(deps, call.operation.name, body)
        return PersonOut.model_validate(await people.add(call.uid, person))


def _build_person(deps: LibraryDeps, person_id: str, body: PersonIn) -> Person:
    now = deps.clock.now()
    return Person(
        id=PersonId(person_id), name=body.name, role=body.role, created_at=now, updated_at=now
    )


@route("GET", "/v1/users/people/{person_id}", "Read a person", errors=(401, 404))
async def get_person(deps: LibraryDeps, call: Call) -> PersonOut:
    return PersonOut.model_validate(await deps.stores.people.get(call.uid, call.path["person_id"]))


@route(
    "PATCH",
    "/v1/users/people/{person_id}/name",
    "Rename a person; transcripts and searches have the new name at once, what models wrote follows within days",
    errors=(401, 404, 422),
    is_query_accepted=True,
)
async def rename_person(deps: LibraryDeps, call: Call[PersonNameIn]) -> PersonOut:
    person = await deps.stores.people.change(
        call.uid, call.path["person_id"], name=call.body.value, updated_at=deps.clock.now()
    )
    return PersonOut.model_validate(person)


@route(
    "PATCH",
    "/v1/users/people/{person_id}/role",
    'Say what a person is to the owner, such as "my sister"; what is processed from now on is read with it',
    errors=(400, 401, 404, 413, 415, 422),
)
async def set_role(deps: LibraryDeps, call: Call[PersonRoleIn]) -> PersonOut:
    person = await deps.stores.people.change(
        call.uid, call.path["person_id"], role=call.body.value, updated_at=deps.clock.now()
    )
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
    recorded_name = _find_recorded_name(conversation, call.path["speaker"])
    speaker = await _resolve_speaker(deps, call.uid, call.query)
    if call.query.keep_name and speaker is not None and speaker.is_user:
        await add_own_name(deps, call.uid, recorded_name)
        speaker = Speaker(is_user=True, is_own_name=True)
    await deps.stores.transcript_edits.assign(
        call.uid,
        conversation,
        lambda current: assign_label(current, recorded_name, speaker),
        now=deps.clock.now(),
    )
    return OkOut()


async def _resolve_speaker(deps: LibraryDeps, uid: UserId, query: AssignQuery) -> Speaker | None:
    if not query.value:
        return None
    if query.assign_type == "is_user":
        if query.value not in ("true", "false"):
            raise Invalid("The value must be true or false.")
        return Speaker(is_user=query.value == "true")
    person = await deps.stores.people.get(uid, query.value)
    return Speaker(name=person.name, person_id=person.id)


def _find_recorded_name(conversation: Conversation, speaker: str) -> str:
    """Return what the recorder called the speaker; the old app sends numbers. Raises NotFound."""
    for label in (speaker, f"SPEAKER_{speaker:0>2}"):
        recorded_name = conversation.find_recorded_name(label)
        if recorded_name is not None:
            return recorded_name
    raise NotFound("No speaker of this conversation has this label")


ROUTES = (
    list_people,
    list_named_speakers,
    show_renewals,
    add_person,
    get_person,
    rename_person,
    set_role,
    delete_person,
    assign_speaker,
)
