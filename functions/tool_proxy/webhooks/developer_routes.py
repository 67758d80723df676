"""Routes of a user's own webhooks: their addresses and switches."""

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.webhooks import developer_webhooks
from functions.tool_proxy.webhooks.developer_schemas import (
    WebhooksStatusOut,
    WebhookUrlIn,
    WebhookUrlOut,
)
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route


@route(
    "GET",
    "/v1/users/developer/webhooks/status",
    "Say which of a user's own webhooks are switched on",
)
async def get_status(deps: ToolProxyDeps, call: Call) -> WebhooksStatusOut:
    return WebhooksStatusOut.of(await deps.stores.developer_webhooks.get(call.uid))


@route(
    "GET",
    "/v1/users/developer/webhook/{type}",
    "Read the address of a user's own webhook",
    errors=(404,),
)
async def get_webhook(deps: ToolProxyDeps, call: Call) -> WebhookUrlOut:
    webhook_type = developer_webhooks.parse_type(call.path["type"])
    webhooks = await deps.stores.developer_webhooks.get(call.uid)
    return WebhookUrlOut(
        url=webhooks.get(webhook_type).url,
        signing_secret=await developer_webhooks.reveal_secret(deps, call.uid, webhooks),
    )


@route(
    "POST",
    "/v1/users/developer/webhook/{type}",
    "Set the address of a user's own webhook; an empty one switches it off",
    errors=(404,),
)
async def set_webhook(deps: ToolProxyDeps, call: Call[WebhookUrlIn]) -> OkOut:
    await developer_webhooks.save_url(deps, call.uid, call.path["type"], call.body.url)
    return OkOut()


@route(
    "POST",
    "/v1/users/developer/webhook/{type}/enable",
    "Switch a user's own webhook on",
    errors=(404,),
)
async def enable_webhook(deps: ToolProxyDeps, call: Call) -> OkOut:
    await developer_webhooks.switch(deps, call.uid, call.path["type"], is_enabled=True)
    return OkOut()


@route(
    "POST",
    "/v1/users/developer/webhook/{type}/disable",
    "Switch a user's own webhook off",
    errors=(404,),
)
async def disable_webhook(deps: ToolProxyDeps, call: Call) -> OkOut:
    await developer_webhooks.switch(deps, call.uid, call.path["type"], is_enabled=False)
    return OkOut()


ROUTES = (get_status, get_webhook, set_webhook, enable_webhook, disable_webhook)
