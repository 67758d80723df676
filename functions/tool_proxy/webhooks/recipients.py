"""Recipients of webhooks: an app that a user installed, or the user's own server."""

import asyncio
from collections.abc import Sequence
from typing import cast, get_args

from functions.tool_proxy.deps import ToolProxyDeps
from shared.domain.apps.app import App, InstalledApp
from shared.domain.apps.webhook import (
    OWN_WEBHOOK,
    DeveloperTrigger,
    DeveloperWebhook,
    DeveloperWebhookType,
    Trigger,
    WebhookDelivery,
)
from shared.domain.ids import UserId
from shared.domain.value import value


@value
class Recipient:
    """Where to send a webhook, and the id by which the user is known there.

    `app` is None for the user's own server.
    """

    url: str
    user_id: str
    app: App | None = None


def is_subscribed(app: App, uid: UserId, installation: InstalledApp, trigger: Trigger) -> bool:
    is_on = app.switched_off is None and app.webhook_off is None
    is_allowed = "hear_conversations" in installation.get_permissions(app, uid)
    is_wanted = trigger in app.external_integration.triggers
    return is_on and is_wanted and app.is_visible_to(uid) and is_allowed


async def load_recipient(deps: ToolProxyDeps, delivery: WebhookDelivery) -> Recipient | None:
    """Return whom to tell; None where nobody wants to hear it any more."""
    if delivery.app_id == OWN_WEBHOOK:
        return await _load_own_server(deps, delivery)
    installation, apps = await asyncio.gather(
        deps.stores.installed_apps.get(delivery.uid, delivery.app_id),
        deps.stores.apps.get_many([delivery.app_id]),
    )
    if not apps or installation is None:
        return None
    [app] = apps
    if not is_subscribed(app, delivery.uid, installation, delivery.trigger):
        return None
    url = app.external_integration.webhook_url or ""
    return Recipient(url=url, user_id=installation.get_app_uid(delivery.uid), app=app)


async def load_secrets(deps: ToolProxyDeps, uid: UserId, recipient: Recipient) -> Sequence[str]:
    """Return the secrets that sign a call to the recipient. Raises CannotUnwrap and Unavailable."""
    if recipient.app is not None:
        return await deps.signing_secrets.load(recipient.app, deps.clock.now())
    webhooks = await deps.stores.developer_webhooks.get(uid)
    return [await deps.signing_secrets.unwrap_for_user(uid, webhooks.signing_secret)]


async def disable_own_webhook(deps: ToolProxyDeps, delivery: WebhookDelivery) -> None:
    """Switch off the user's own webhook of this delivery; its address stays."""
    webhook_type = _require_own_type(delivery)
    await deps.stores.developer_webhooks.change(
        delivery.uid,
        lambda webhooks: webhooks.put(
            webhook_type, DeveloperWebhook(url=webhooks.get(webhook_type).url)
        ),
    )


async def _load_own_server(deps: ToolProxyDeps, delivery: WebhookDelivery) -> Recipient | None:
    webhooks = await deps.stores.developer_webhooks.get(delivery.uid)
    webhook = webhooks.get(_require_own_type(delivery))
    return Recipient(url=webhook.address, user_id=delivery.uid) if webhook.is_on else None


def _require_own_type(delivery: WebhookDelivery) -> DeveloperWebhookType:
    assert delivery.trigger in get_args(DeveloperTrigger), "apps have triggers of their own"
    return cast(DeveloperTrigger, delivery.trigger)
