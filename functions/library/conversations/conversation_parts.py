"""Parts of a conversation over HTTP, each as a page of the released app asks for it."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from functions.library.conversations.edit_schemas import MAX_ITEMS, Place
from functions.library.tasks.action_item_schemas import ActionItemListOut, ActionItemOut
from shared.domain.ids import ConversationId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import PhotoOut, SegmentOut, build_segments
from shared.library.deps import LibraryDeps

_PATH = "/v1/conversations/{conversation_id}"


class EventStatesIn(Wire):
    """For each place in the conversation's list of events whether a calendar has it."""

    events_idx: Annotated[list[Place], Field(min_length=1, max_length=MAX_ITEMS)]
    values: Annotated[list[bool], Field(min_length=1, max_length=MAX_ITEMS)]

    @model_validator(mode="after")
    def _have_one_length(self) -> Self:
        if len(self.events_idx) != len(self.values):
            raise ValueError("there must be one value for each of the events")
        return self

    @property
    def by_place(self) -> Mapping[int, bool]:
        return dict(zip(self.events_idx, self.values, strict=True))


class KeptRecordingOut(Wire):
    has_recording: bool


class TranscriptsOut(Wire):
    """What was said, by what turned it into text; what came as text is in none of them."""

    deepgram: list[SegmentOut]
    soniox: list[SegmentOut]
    whisperx: list[SegmentOut]
    speechmatics: list[SegmentOut]


@route(
    "PATCH",
    f"{_PATH}/events",
    "Say which events of a conversation stand in a calendar",
    errors=(400, 401, 404, 413, 415, 422),
)
async def mark_events(deps: LibraryDeps, call: Call[EventStatesIn]) -> OkOut:
    await deps.stores.conversations.mark_events(call.uid, _path_id(call), call.body.by_place)
    return OkOut()


@route("GET", f"{_PATH}/photos", "List the photos of a conversation", errors=(401, 404))
async def list_photos(deps: LibraryDeps, call: Call) -> list[PhotoOut]:
    stored = await deps.stores.conversations.get_stored(call.uid, _path_id(call))
    [shown] = await deps.stores.conversations.load_photos(call.uid, [stored])
    return list(map(PhotoOut.model_validate, shown.photos))


@route(
    "GET", f"{_PATH}/recording", "Say whether sound of a conversation is kept", errors=(401, 404)
)
async def get_recording(deps: LibraryDeps, call: Call) -> KeptRecordingOut:
    await deps.stores.conversations.check_exists(call.uid, _path_id(call))
    recordings = await deps.stores.recordings.list_of_conversation(call.uid, _path_id(call))
    return KeptRecordingOut(has_recording=any(each.parts for each in recordings))


@route(
    "GET",
    f"{_PATH}/transcripts",
    "List what was said by what turned it into text; all but the named providers count as Whisper",
    errors=(401, 404),
)
async def list_transcripts(deps: LibraryDeps, call: Call) -> TranscriptsOut:
    conversation = await deps.stores.conversations.get(call.uid, _path_id(call))
    lists: dict[str, list[SegmentOut]] = {name: [] for name in TranscriptsOut.model_fields}
    shown = build_segments(conversation)
    for segment, segment_out in zip(conversation.transcript_segments, shown, strict=True):
        if segment.stt_provider:
            lists.get(segment.stt_provider, lists["whisperx"]).append(segment_out)
    return TranscriptsOut(**lists)


@route("GET", f"{_PATH}/action-items", "List the action items of a conversation", errors=(401, 404))
async def list_items(deps: LibraryDeps, call: Call) -> ActionItemListOut:
    await deps.stores.conversations.check_exists(call.uid, _path_id(call))
    items = await deps.stores.action_items.list_for_conversation(call.uid, _path_id(call))
    return ActionItemListOut(
        action_items=list(map(ActionItemOut.model_validate, items)),
        has_more=False,
        next_cursor=None,
        total=None,
    )


def _path_id(call: Call[Any, Any]) -> ConversationId:
    return ConversationId(call.path["conversation_id"])


ROUTES = (mark_events, list_photos, get_recording, list_transcripts, list_items)
