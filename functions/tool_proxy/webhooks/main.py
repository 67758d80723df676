"""Entry points of webhooks: one queues the deliveries of a conversation, one attempts a delivery."""

from functions.tool_proxy.webhooks.webhook_routes import DELIVERY_ROUTES, QUEUE_ROUTES
from functions.tool_proxy.wiring import deps, start
from shared.edge.serve.entry_point import serve

start("apps", "call_log", "conversations")

on_conversation_processed = serve("on_conversation_processed", QUEUE_ROUTES, deps)
deliver_webhook = serve("deliver_webhook", DELIVERY_ROUTES, deps)
