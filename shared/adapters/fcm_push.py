"""Pushes through Firebase Cloud Messaging."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any
from uuid import uuid4

import anyio

from shared import telemetry
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.ports import PushMessage

TIMEOUT_S = 10.0
NO_TOKEN = "registration token"  # noqa: S105  what FCM says of a token that is none
"""FCM calls a malformed token and a malformed message by the same code."""


class FcmPush:
    """Sends to the devices of one project.

    Raises Unavailable when a device could not be reached now, though others were: the next attempt
    carries the same tag, so that these show one notification, and finds the same tokens dead. A
    device that will refuse the next attempt too is logged and passed over.
    """

    def __init__(self, *, project: str) -> None:
        self._project = project

    async def send(self, uid: UserId, tokens: Sequence[str], message: PushMessage) -> Sequence[str]:
        if not tokens:
            return ()
        errors = await anyio.to_thread.run_sync(self._send, tokens, message)
        failed = [(token, error) for token, error in zip(tokens, errors, strict=True) if error]
        for error in (error for _, error in failed if _is_hopeless(error)):
            telemetry.error("push_refused", uid=telemetry.opaque(uid), code=error.code)
        if any(not _is_dead(error) and not _is_hopeless(error) for _, error in failed):
            raise Unavailable("FCM does not take every push now")
        return [token for token, error in failed if _is_dead(error)]

    def _send(self, tokens: Sequence[str], message: PushMessage) -> list[Any]:
        """Return what went wrong for each token, or None."""
        from firebase_admin import messaging
        from firebase_admin.exceptions import FirebaseError
        from google.auth.exceptions import GoogleAuthError

        messages = [_to_device(token, message) for token in tokens]
        try:
            sent = messaging.send_each(messages, app=self._app)
        except (FirebaseError, GoogleAuthError) as error:
            raise Unavailable("FCM does not answer") from error
        return [response.exception for response in sent.responses]

    @cached_property
    def _app(self) -> Any:
        """Stand in firebase_admin's registry under a name of one's own: messaging asks for that."""
        from firebase_admin import credentials, initialize_app

        options = {"projectId": self._project, "httpTimeout": TIMEOUT_S}
        return initialize_app(credentials.ApplicationDefault(), options, name=f"push-{uuid4()}")


def _to_device(token: str, message: PushMessage) -> Any:
    """Build a message of which Android, iOS and browsers each keep one a tag."""
    from firebase_admin import messaging

    sent = messaging.Message(
        notification=messaging.Notification(title=message.title, body=message.body),
        data=dict(message.data),
        android=messaging.AndroidConfig(
            collapse_key=message.tag, notification=messaging.AndroidNotification(tag=message.tag)
        ),
        apns=messaging.APNSConfig(headers={"apns-collapse-id": message.tag}),
        webpush=messaging.WebpushConfig(headers={"Topic": message.tag}),
    )
    # The constructor deprecates tokens in favour of installation ids, which devices do not send us.
    sent.token = token
    return sent


def _is_dead(error: Any) -> bool:
    """Tell whether the app is gone from the device, or the token never was one."""
    from firebase_admin.exceptions import InvalidArgumentError, NotFoundError

    if isinstance(error, InvalidArgumentError):
        return NO_TOKEN in str(error)
    return isinstance(error, NotFoundError)


def _is_hopeless(error: Any) -> bool:
    """Tell whether we did something wrong: the message, the project, or its key at Apple."""
    from firebase_admin.exceptions import InvalidArgumentError
    from firebase_admin.messaging import SenderIdMismatchError, ThirdPartyAuthError

    ours = (InvalidArgumentError, SenderIdMismatchError, ThirdPartyAuthError)
    return isinstance(error, ours) and not _is_dead(error)
