"""Recipients of webhooks: an app that a user installed, or the user's own server."""

import asyncio
from collections.abc import Sequence
from typing import Protocol, cast, get_args

from shared.data.apps.signing_secrets import SigningSecrets
from shared.data.stores import Stores
from shared.domain.apps.app import App, AppTrigger, InstalledApp
from shared.domain.apps.webhook import (
    OWN_WEBHOOK,
    DeveloperWebhook,
    DeveloperWebhookType,
    Trigger,
)
from shared.domain.ids import AppId, UserId
from shared.domain.value import value
from shared.ports import Clock


class RecipientDeps(Protocol):
    """What calling a recipient needs to know of it."""

    @property
    def clock(self) -> Clock: ...
    @property
    def stores(self) -> Stores: ...
    @property
    def signing_secrets(self) -> SigningSecrets: ...


@value
class Recipient:
    """Where to send a webhook, and the id by which the user is known there.

    `app` is None for the user's own server.
    """

    url: str
    user_id: str
    app: App | None = None


async def list_subscribed(
    stores: Stores, uid: UserId, trigger: AppTrigger
) -> list[tuple[App, InstalledApp]]:
    """List the apps of a user whose webhooks are called for this."""
    return [
        (app, installation)
        for app, installation in await load_installed(stores, uid)
        if app.is_called_for(trigger, uid, installation)
    ]


async def load_installed(stores: Stores, uid: UserId) -> list[tuple[App, InstalledApp]]:
    """Return the apps that a user installed, with what each may do."""
    by_id = {each.app_id: each for each in await stores.installed_apps.list_all(uid)}
    apps = await stores.apps.get_many(list(by_id)) if by_id else []
    return [(app, by_id[app.id]) for app in apps]


async def load_recipient(
    stores: Stores, uid: UserId, app_id: AppId, trigger: Trigger
) -> Recipient | None:
    """Return whom to tell; None where nobody wants to hear it any more."""
    if app_id == OWN_WEBHOOK:
        webhook = (await stores.developer_webhooks.get(uid)).get(_to_own_type(trigger))
        return Recipient(url=webhook.address, user_id=uid) if webhook.is_on else None
    installation, apps = await asyncio.gather(
        stores.installed_apps.get(uid, app_id), stores.apps.get_many([app_id])
    )
    if not apps or installation is None:
        return None
    [app] = apps
    if not app.is_called_for(cast(AppTrigger, trigger), uid, installation):
        return None
    url = app.external_integration.webhook_url or ""
    return Recipient(url=url, user_id=installation.get_app_uid(uid), app=app)


async def load_secrets(deps: RecipientDeps, uid: UserId, recipient: Recipient) -> Sequence[str]:
    """Return the secrets that sign a call to the recipient. Raises CannotUnwrap and Unavailable."""
    if recipient.app is not None:
        return await deps.signing_secrets.load(recipient.app, deps.clock.now())
    webhooks = await deps.stores.developer_webhooks.get(uid)
    return [await deps.signing_secrets.unwrap_for_user(uid, webhooks.signing_secret)]


async def disable_own_webhook(stores: Stores, uid: UserId, trigger: Trigger) -> None:
    """Switch off the user's own webhook for this; its address stays."""
    webhook_type = _to_own_type(trigger)
    await stores.developer_webhooks.change(
        uid,
        lambda webhooks: webhooks.put(
            webhook_type, DeveloperWebhook(url=webhooks.get(webhook_type).url)
        ),
    )


def _to_own_type(trigger: Trigger) -> DeveloperWebhookType:
    assert trigger in get_args(DeveloperWebhookType), "apps have triggers of their own"
    return cast(DeveloperWebhookType, trigger)
