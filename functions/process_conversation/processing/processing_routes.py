"""Internal routes of processing: the trigger's event, and the message that a conversation changed."""

from pydantic import Field, ValidationError

from functions.process_conversation.deps import ProcessDeps, TriggerDeps
from functions.process_conversation.processing.process import process
from functions.process_conversation.processing.trigger import publish_change
from shared import telemetry
from shared.domain.errors import Invalid
from shared.domain.ids import ConversationId, UserId
from shared.edge.declare.cloudevents import (
    MAX_EVENT_BYTES,
    parse_document_change,
    parse_pubsub_event,
)
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import ID_PATTERN, Wire
from shared.library.count_model_usage import count_model_usage


class ConversationChangedIn(Wire):
    """The event `conversation.changed`; the hash is null when the document was deleted."""

    uid: UserId
    conversation_id: ConversationId = Field(pattern=ID_PATTERN)
    content_hash: str | None


@route(
    "POST",
    "/",
    "A conversation was created, changed or deleted",
    access="service",
    status=204,
    max_bytes=MAX_EVENT_BYTES,
)
async def on_written(deps: TriggerDeps, call: Call[bytes]) -> None:
    change = parse_document_change(call.headers, call.body)
    await publish_change(deps, change.path, old=change.old, new=change.new)


@route("POST", "/", "A conversation's content changed", access="service", status=204)
async def on_changed(deps: ProcessDeps, call: Call[bytes]) -> None:
    message = _parse_message(call)
    telemetry.add_fields(uid=telemetry.hash_id(message.uid))
    async with count_model_usage(deps.quotas, deps.clock, message.uid):
        await process(deps, message.uid, message.conversation_id, message_hash=message.content_hash)


def _parse_message(call: Call[bytes]) -> ConversationChangedIn:
    try:
        return ConversationChangedIn.model_validate(parse_pubsub_event(call.headers, call.body))
    except ValidationError as error:
        raise Invalid("The message does not name a conversation") from error


TRIGGER_ROUTES = (on_written,)
PROCESS_ROUTES = (on_changed,)
