"""Push on Firebase Cloud Messaging.

Also called: APNs.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal
from uuid import uuid4

import anyio

from shared import telemetry
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.ports import PushMessage, PushOutcome

TIMEOUT_S = 10.0
INVALID_TOKEN_PHRASE = "registration token"  # noqa: S105  what FCM says of a token that is none
"""FCM uses the same code for a malformed token and a malformed message."""


class FcmPush:
    """Sends to the devices of one project.

    A token is dead when its app is gone from the device. A push is refused when we made a mistake;
    any other failure may be retried.
    """

    def __init__(self, *, project: str) -> None:
        self._project = project

    async def send(self, uid: UserId, tokens: Sequence[str], message: PushMessage) -> PushOutcome:
        if not tokens:
            return PushOutcome()
        errors = await anyio.to_thread.run_sync(self._send, tokens, message)
        tokens_by_outcome: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for token, error in zip(tokens, errors, strict=True):
            tokens_by_outcome[_classify_error(error)][token] = type(error).__name__
        for reason in set(tokens_by_outcome["refused"].values()):
            telemetry.error("push_refused", uid=telemetry.hash_id(uid), reason=reason)
        return PushOutcome(
            sent_tokens=tuple(tokens_by_outcome["sent"]),
            dead_tokens=tuple(tokens_by_outcome["dead"]),
            retryable_tokens=tuple(tokens_by_outcome["later"]),
            refusal_reasons=tokens_by_outcome["refused"],
        )

    def _send(self, tokens: Sequence[str], message: PushMessage) -> list[Any]:
        """Return the error of each token, or None."""
        from firebase_admin import messaging
        from firebase_admin.exceptions import FirebaseError
        from google.auth.exceptions import GoogleAuthError

        messages = [_to_fcm_message(token, message) for token in tokens]
        try:
            batch = messaging.send_each(messages, app=self._app)
        except (FirebaseError, GoogleAuthError) as error:
            raise Unavailable("FCM does not answer") from error
        return [response.exception for response in batch.responses]

    @cached_property
    def _app(self) -> Any:
        """Register with firebase_admin under a name of its own, which messaging needs."""
        from firebase_admin import credentials, initialize_app

        options = {"projectId": self._project, "httpTimeout": TIMEOUT_S}
        return initialize_app(credentials.ApplicationDefault(), options, name=f"push-{uuid4()}")


def _to_fcm_message(token: str, message: PushMessage) -> Any:
    """Build a message; Android, iOS and browsers each show one for a tag."""
    from firebase_admin import messaging

    fcm_message = messaging.Message(
        data=dict(message.data),
        webpush=messaging.WebpushConfig(headers={"Topic": message.tag}),
        **(_build_shown(message) if message.title else _build_data(message)),
    )
    # The constructor deprecates tokens in favour of installation ids, which devices do not send us.
    fcm_message.token = token
    return fcm_message


def _build_shown(message: PushMessage) -> dict[str, Any]:
    from firebase_admin import messaging

    return {
        "notification": messaging.Notification(title=message.title, body=message.body),
        "android": messaging.AndroidConfig(
            collapse_key=message.tag, notification=messaging.AndroidNotification(tag=message.tag)
        ),
        "apns": messaging.APNSConfig(headers={"apns-collapse-id": message.tag}),
    }


def _build_data(message: PushMessage) -> dict[str, Any]:
    """Wake the app alone; phones deliver such messages at low priority on iOS, as Apple demands."""
    from firebase_admin import messaging

    aps = messaging.Aps(content_available=True)
    headers = {
        "apns-collapse-id": message.tag,
        "apns-priority": "5",
        "apns-push-type": "background",
    }
    return {
        "android": messaging.AndroidConfig(collapse_key=message.tag, priority="high"),
        "apns": messaging.APNSConfig(headers=headers, payload=messaging.APNSPayload(aps=aps)),
    }


def _classify_error(error: Any) -> Literal["sent", "dead", "later", "refused"]:
    """Tell a dead token (the app is gone, or it is malformed) from a fault of ours."""
    from firebase_admin.exceptions import (
        InvalidArgumentError,
        NotFoundError,
        PermissionDeniedError,
        UnauthenticatedError,
    )

    match error:
        case None:
            return "sent"
        case NotFoundError():
            return "dead"
        case InvalidArgumentError():
            return "dead" if INVALID_TOKEN_PHRASE in str(error) else "refused"
        case PermissionDeniedError() | UnauthenticatedError():
            return "refused"
    return "later"
