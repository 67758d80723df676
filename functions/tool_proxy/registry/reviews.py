"""Reviews of apps: users rate what they have installed, and developers answer.

Also called: star rating.
"""

import asyncio

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.registry.access import load_display_name, require_owned, require_visible
from shared.domain.apps.app import App, AppReview
from shared.domain.errors import NotAllowed
from shared.domain.ids import AppId, UserId


async def write_review(
    deps: ToolProxyDeps, uid: UserId, app_id: AppId, *, points: int, text: str
) -> AppReview:
    """Store a user's only review of an app, or change it.

    Raises NotFound, and NotAllowed for an own app and one that the user has not installed.
    """
    app = await require_visible(deps, uid, app_id)
    if app.owner == uid:
        raise NotAllowed("You cannot review your own app")
    if await deps.stores.installed_apps.get(uid, app_id) is None:
        raise NotAllowed("Install the app before you review it")
    username = await load_display_name(deps, uid)
    return await deps.stores.app_reviews.put(
        app, uid, points=points, text=text, username=username, now=deps.clock.now()
    )


async def respond(
    deps: ToolProxyDeps, uid: UserId, app_id: AppId, reviewer_id: str, response: str
) -> AppReview:
    """Store a developer's answer to a review. Raises NotFound and NotAllowed."""
    await require_owned(deps, uid, app_id)
    return await deps.stores.app_reviews.respond(app_id, reviewer_id, response, deps.clock.now())


async def list_reviews(
    deps: ToolProxyDeps, uid: UserId, app: App
) -> tuple[list[AppReview], AppReview | None]:
    """Return the newest reviews of an app, and the user's own."""
    store = deps.stores.app_reviews
    return await asyncio.gather(store.list_newest(app.id), store.find(app, uid))
