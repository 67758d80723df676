"""Entry points of the tool proxy: calls of tools, the apps that serve them, and their webhooks."""

from functions.tool_proxy.deps import CallDeps, DeliveryDeps, RegistryDeps, ToolProxyDeps
from shared.edge.declare.entry_points import EntryPoint

_WEBHOOKS = "functions.tool_proxy.webhooks.webhook_routes"

ENTRY_POINTS = (
    EntryPoint(
        name="tool_proxy",
        deps=ToolProxyDeps,
        first="functions.tool_proxy.calls.call_routes:ROUTES",
        first_deps=CallDeps,
        routes=("functions.tool_proxy.calls.service_routes:ROUTES",),
        stores=("app_calls", "apps", "call_log"),
    ),
    EntryPoint(
        name="apps",
        deps=RegistryDeps,
        first="functions.tool_proxy.routes:ROUTES",
        routes=(),
        stores=("apps", "call_log", "connections"),
        serves_pages=True,
    ),
    EntryPoint(
        name="on_conversation_processed",
        deps=ToolProxyDeps,
        first=f"{_WEBHOOKS}:QUEUE_ROUTES",
        routes=(),
        stores=("apps", "call_log", "conversations"),
    ),
    EntryPoint(
        name="deliver_webhook",
        deps=DeliveryDeps,
        first=f"{_WEBHOOKS}:DELIVERY_ROUTES",
        routes=(),
        stores=("apps", "call_log", "conversations"),
    ),
)
