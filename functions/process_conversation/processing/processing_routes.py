"""The routes of the library, of its MCP server, of the trigger and of processing."""

from pydantic import ValidationError

from functions.process_conversation.deps import (
    DeadLetterDeps,
    EraseDeps,
    ProcessDeps,
    TriggerDeps,
)
from functions.process_conversation.integrations import integration_routes as integrations
from functions.process_conversation.library import (
    account,
    action_items,
    conversations,
    memories,
    people,
)
from functions.process_conversation.library.conversation_schemas import (
    ConversationChangedIn,
    EraseIn,
)
from functions.process_conversation.library.erase_account import erase
from functions.process_conversation.mcp_server import keys as mcp_keys
from functions.process_conversation.mcp_server import mcp_routes as mcp_endpoint
from functions.process_conversation.processing.dead_letters import record_dead_letter
from functions.process_conversation.processing.process import process
from functions.process_conversation.processing.trigger import publish_change
from shared import telemetry
from shared.domain.errors import Invalid
from shared.domain.ids import ConversationId, UserId
from shared.edge.cloudevents import (
    MAX_EVENT_BYTES,
    parse_dead_letter,
    parse_document_change,
    parse_pubsub_event,
)
from shared.edge.http import Call, Endpoint


async def on_erasure(deps: EraseDeps, call: Call[EraseIn]) -> None:
    await erase(deps, call.body.uid)


async def on_written(deps: TriggerDeps, call: Call[bytes]) -> None:
    change = parse_document_change(call.headers, call.body)
    await publish_change(deps, change.path, old=change.old, new=change.new)


async def on_changed(deps: ProcessDeps, call: Call[bytes]) -> None:
    message = _parse_message(call)
    telemetry.add_fields(uid=telemetry.hash_id(message.uid))
    await process(
        deps,
        UserId(message.uid),
        ConversationId(message.conversation_id),
        message_hash=message.content_hash,
    )


async def on_dead_letter(deps: DeadLetterDeps, call: Call[bytes]) -> None:
    await record_dead_letter(deps, parse_dead_letter(call.headers, call.body))


def _parse_message(call: Call[bytes]) -> ConversationChangedIn:
    try:
        return ConversationChangedIn.model_validate(parse_pubsub_event(call.headers, call.body))
    except ValidationError as error:
        raise Invalid("The message does not name a conversation") from error


LIBRARY = (
    *conversations.ENDPOINTS,
    *memories.ENDPOINTS,
    *action_items.ENDPOINTS,
    *people.ENDPOINTS,
    *account.ENDPOINTS,
    *mcp_keys.ENDPOINTS,
)

MCP = mcp_endpoint.ENDPOINTS
INTEGRATIONS = integrations.ENDPOINTS

ERASE = (
    Endpoint(
        method="POST",
        path="/",
        handler=on_erasure,
        summary="A user wants to be erased",
        access="service",
        body=EraseIn,
        status=204,
    ),
)

TRIGGER = (
    Endpoint(
        method="POST",
        path="/",
        handler=on_written,
        summary="A conversation was created, changed or deleted",
        access="service",
        body=bytes,
        status=204,
        max_bytes=MAX_EVENT_BYTES,
    ),
)

PROCESS = (
    Endpoint(
        method="POST",
        path="/",
        handler=on_changed,
        summary="A conversation's content changed",
        access="service",
        body=bytes,
        status=204,
    ),
)

DEAD_LETTERS = (
    Endpoint(
        method="POST",
        path="/",
        handler=on_dead_letter,
        summary="A message was given up",
        access="service",
        body=bytes,
        status=204,
    ),
)
