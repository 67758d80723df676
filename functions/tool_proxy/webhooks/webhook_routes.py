"""Internal routes of webhooks: queue the deliveries of a conversation, and attempt one."""

from pydantic import ValidationError

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.webhooks import delivery
from functions.tool_proxy.webhooks.webhook_schemas import ConversationProcessedIn, WebhookTaskIn
from shared import telemetry
from shared.domain.errors import Invalid
from shared.edge.cloudevents import parse_pubsub_event
from shared.edge.routes import Call, route


@route("POST", "/", "A conversation was processed", access="service", status=204)
async def queue_webhooks(deps: ToolProxyDeps, call: Call[bytes]) -> None:
    try:
        message = ConversationProcessedIn.model_validate(
            parse_pubsub_event(call.headers, call.body)
        )
    except ValidationError as error:
        raise Invalid("The message does not name a conversation") from error
    telemetry.add_fields(uid=telemetry.hash_id(message.uid))
    await delivery.queue_deliveries(
        deps, message.uid, message.conversation_id, message.content_hash
    )


@route("POST", "/", "Tell an app of a conversation", access="service", status=204)
async def deliver_webhook(deps: ToolProxyDeps, call: Call[WebhookTaskIn]) -> None:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    await delivery.attempt_delivery(deps, delivery.WebhookDelivery(**dict(call.body)))


QUEUE_ROUTES = (queue_webhooks,)
DELIVERY_ROUTES = (deliver_webhook,)
