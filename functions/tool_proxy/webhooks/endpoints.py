"""The entry points behind webhooks: a conversation was processed, and an app is to be told."""

from pydantic import ValidationError

from functions.tool_proxy.webhooks import delivery
from functions.tool_proxy.webhooks.wire import ProcessedMessage, WebhookTask
from functions.tool_proxy.wiring import ToolProxyDeps
from shared import telemetry
from shared.domain.errors import Invalid
from shared.edge.cloudevents import pubsub_event
from shared.edge.http import Call, Endpoint


async def announce_conversation(deps: ToolProxyDeps, call: Call[bytes]) -> None:
    try:
        message = ProcessedMessage.model_validate(pubsub_event(call.headers, call.body))
    except ValidationError as error:
        raise Invalid("The message does not name a conversation") from error
    telemetry.note(uid=telemetry.opaque(message.uid))
    await delivery.announce(deps, message.uid, message.conversation_id, message.content_hash)


async def deliver_webhook(deps: ToolProxyDeps, call: Call[WebhookTask]) -> None:
    telemetry.note(uid=telemetry.opaque(call.body.uid))
    await delivery.deliver(deps, delivery.Told(**dict(call.body)))


ANNOUNCE = (
    Endpoint(
        method="POST",
        path="/",
        handler=announce_conversation,
        summary="A conversation was processed",
        access="service",
        body=bytes,
        status=204,
    ),
)
DELIVER = (
    Endpoint(
        method="POST",
        path="/",
        handler=deliver_webhook,
        summary="Tell an app of a conversation",
        access="service",
        body=WebhookTask,
        status=204,
    ),
)
