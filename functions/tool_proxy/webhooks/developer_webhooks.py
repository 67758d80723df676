"""Developer webhooks: a user's own addresses, kept with switches and one signing secret."""

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.registry.credentials import create_signing_secret
from shared.domain.apps.webhook import (
    DEVELOPER_WEBHOOK_TYPES,
    DeveloperWebhook,
    DeveloperWebhooks,
    DeveloperWebhookType,
)
from shared.domain.errors import Invalid, NotAllowed, NotFound
from shared.domain.ids import UserId


async def save_url(deps: ToolProxyDeps, uid: UserId, webhook_type: str, url: str) -> None:
    """Keep an address; an empty one switches its webhook off. Raises NotFound, and Invalid for one that is never called."""
    known_type = parse_type(webhook_type)
    webhook = DeveloperWebhook(url=url.strip())
    if webhook.address:
        _check_address(deps, webhook.address)
    new_secret = await _create_secret(deps, uid)

    def change(webhooks: DeveloperWebhooks) -> DeveloperWebhooks:
        is_enabled = webhooks.get(known_type).enabled and bool(webhook.address)
        changed = webhooks.put(known_type, DeveloperWebhook(url=webhook.url, enabled=is_enabled))
        return changed.with_secret(new_secret)

    await deps.stores.developer_webhooks.change(uid, change)


def _check_address(deps: ToolProxyDeps, address: str) -> None:
    try:
        deps.egress.check_url(address)
    except NotAllowed as refusal:
        raise Invalid(str(refusal)) from refusal


async def _create_secret(deps: ToolProxyDeps, uid: UserId) -> str:
    """Return a wrapped secret for a user who has none, else an empty text."""
    if (await deps.stores.developer_webhooks.get(uid)).signing_secret:
        return ""
    return await deps.signing_secrets.wrap_for_user(uid, create_signing_secret())


async def switch(deps: ToolProxyDeps, uid: UserId, webhook_type: str, *, is_enabled: bool) -> None:
    """Switch a webhook on or off; its address stays. Raises NotFound."""
    known_type = parse_type(webhook_type)
    await deps.stores.developer_webhooks.change(
        uid,
        lambda webhooks: webhooks.put(
            known_type, DeveloperWebhook(url=webhooks.get(known_type).url, enabled=is_enabled)
        ),
    )


async def reveal_secret(
    deps: ToolProxyDeps, uid: UserId, webhooks: DeveloperWebhooks
) -> str | None:
    """Return the secret as it signs; None before the first address."""
    stored = webhooks.signing_secret
    return await deps.signing_secrets.unwrap_for_user(uid, stored) if stored else None


def parse_type(webhook_type: str) -> DeveloperWebhookType:
    """Raises NotFound."""
    for known_type in DEVELOPER_WEBHOOK_TYPES:
        if webhook_type == known_type:
            return known_type
    raise NotFound("There is no such webhook")
