"""Request bodies of posted notifications."""

from shared.edge.declare.schemas import Wire


class NotificationIn(Wire):
    """An app's message to a user. All three are required; the first that is missing is named."""

    aid: str | None = None
    uid: str | None = None
    message: str | None = None


class AppNotificationIn(Wire):
    """An app's message to a user; the path names the app."""

    uid: str | None = None
    message: str | None = None
