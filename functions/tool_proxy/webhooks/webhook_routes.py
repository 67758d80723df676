"""Internal routes of webhooks: begin the deliveries of a conversation, and attempt one."""

from pydantic import ValidationError

from functions.tool_proxy.deps import DeliveryDeps, ToolProxyDeps
from functions.tool_proxy.webhooks.delivery import attempt_delivery
from functions.tool_proxy.webhooks.queueing import queue_deliveries
from functions.tool_proxy.webhooks.webhook_schemas import ConversationProcessedIn, WebhookTaskIn
from shared import telemetry
from shared.domain.apps.webhook import WebhookDelivery
from shared.domain.errors import Invalid
from shared.edge.declare.cloudevents import parse_pubsub_event
from shared.edge.declare.routes import Call, route


@route("POST", "/", "A conversation was processed", access="service", status=204)
async def queue_webhooks(deps: ToolProxyDeps, call: Call[bytes]) -> None:
    try:
        message = ConversationProcessedIn.model_validate(
            parse_pubsub_event(call.headers, call.body)
        )
    except ValidationError as error:
        raise Invalid("The message does not name a conversation") from error
    telemetry.add_fields(uid=telemetry.hash_id(message.uid))
    await queue_deliveries(deps, message.uid, message.conversation_id)


@route(
    "POST", "/", "Tell an app or a user's server of a conversation", access="service", status=204
)
async def deliver_webhook(deps: DeliveryDeps, call: Call[WebhookTaskIn]) -> None:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    await attempt_delivery(deps, WebhookDelivery(**dict(call.body)))


QUEUE_ROUTES = (queue_webhooks,)
DELIVERY_ROUTES = (deliver_webhook,)
