"""Summary apps: which apps may write summaries of a user's conversations."""

from shared.data.stores import Stores
from shared.domain.apps.app import App
from shared.domain.errors import Invalid, NotFound
from shared.domain.ids import AppId, UserId

NO_SUMMARIES = "This app writes no summaries of conversations."


async def require_summary_app(stores: Stores, uid: UserId, app_id: AppId) -> App:
    """Return an app that may write summaries for this user. Raises NotFound and Invalid."""
    app = await stores.apps.get(app_id)
    if not app.is_visible_to(uid):
        raise NotFound("App not found")
    if not app.writes_summaries:
        raise Invalid(NO_SUMMARIES)
    return app
