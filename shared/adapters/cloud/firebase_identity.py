"""Identity on Firebase ID tokens."""

from functools import cached_property
from typing import Any

import anyio

from shared.domain.errors import NotAuthenticated, Unavailable
from shared.domain.ids import UserId, is_id

TIMEOUT_S = 10.0
INVALID_TOKEN = "Invalid authorization token"  # noqa: S105  a message, no token


class FirebaseIdentity:
    """Verifies ID tokens of one project; the signing certificates are fetched once and cached.

    An id that could not stand in a path is refused, though Firebase would let an administrator
    choose one.
    """

    def __init__(self, *, project: str) -> None:
        self._project = project

    async def verify(self, token: str) -> UserId:
        return await anyio.to_thread.run_sync(self._verify, token)

    def _verify(self, token: str) -> UserId:
        from firebase_admin import auth

        client = self._client
        try:
            uid = client.verify_id_token(token)["uid"]
        except auth.CertificateFetchError as error:
            raise Unavailable("The certificates of Firebase cannot be fetched") from error
        except (ValueError, auth.InvalidIdTokenError) as error:
            raise NotAuthenticated(INVALID_TOKEN) from error
        if not is_id(uid):
            raise NotAuthenticated(INVALID_TOKEN)
        return UserId(uid)

    @cached_property
    def _client(self) -> Any:
        """Stay out of firebase_admin's registry of apps: it holds one app a name, for good."""
        from firebase_admin import App, auth, credentials

        options = {"projectId": self._project, "httpTimeout": TIMEOUT_S}
        return auth.Client(App("keepsake", credentials.ApplicationDefault(), options))
