"""Identity on Firebase ID tokens, and the deletion of a Firebase user.

Also called: JWT verification, sign-in, identity provider.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import anyio

from shared.domain.account.account import TokenCheck, VerifiedToken
from shared.domain.errors import NotAuthenticated, Unavailable
from shared.domain.ids import UserId, is_id

TIMEOUT_S = 10.0
INVALID_TOKEN = "Invalid authorization token"  # noqa: S105  a message, no token
ANONYMOUS = "Anonymous sign-in is not accepted"


class FirebaseIdentity:
    """Verifies ID tokens of one project; the signing certificates are fetched once and cached.

    An id that could not stand in a path is refused, though Firebase would let an administrator
    choose one. So are anonymous users: anybody can be any number of them.
    """

    def __init__(self, *, project: str) -> None:
        self._project = project

    async def verify(self, token: str, *, check: TokenCheck = "standard") -> VerifiedToken:
        """A check of the session asks Firebase whether it was revoked; all others ask nobody."""
        is_session_checked = check in ("revocation", "erasure_request")
        claims = await anyio.to_thread.run_sync(self._verify, token, is_session_checked)
        if not is_id(claims["uid"]):
            raise NotAuthenticated(INVALID_TOKEN)
        if claims.get("firebase", {}).get("sign_in_provider") == "anonymous":
            raise NotAuthenticated(ANONYMOUS)
        # A refreshed token is newer than the session whose rights it has.
        began_at = datetime.fromtimestamp(claims.get("auth_time", claims["iat"]), UTC)
        return VerifiedToken(uid=UserId(claims["uid"]), issued_at=began_at)

    def _verify(self, token: str, is_session_checked: bool) -> Mapping[str, Any]:  # noqa: FBT001 - run_sync passes by position
        from firebase_admin import auth, exceptions

        client = self._client
        try:
            claims: Mapping[str, Any] = client.verify_id_token(
                token, check_revoked=is_session_checked
            )
        except auth.CertificateFetchError as error:
            raise Unavailable("The certificates of Firebase cannot be fetched") from error
        except (
            ValueError,
            auth.InvalidIdTokenError,
            auth.UserDisabledError,
            auth.UserNotFoundError,
        ) as error:
            raise NotAuthenticated(INVALID_TOKEN) from error
        except exceptions.FirebaseError as error:
            raise Unavailable("Firebase cannot be asked about this session") from error
        return claims

    @cached_property
    def _client(self) -> Any:
        return build_auth_client(self._project)


class FirebaseResidualData:
    """What the cloud holds beside documents and vectors: the user of Firebase, who can sign in.

    Backups of the store and logs expire by themselves; docs/privacy.md says when.
    """

    def __init__(self, *, project: str) -> None:
        self._project = project

    async def erase(self, uid: UserId) -> None:
        await anyio.to_thread.run_sync(self._delete_user, uid)

    def _delete_user(self, uid: UserId) -> None:
        from firebase_admin import auth, exceptions

        client = self._client
        try:
            client.delete_user(uid)
        except auth.UserNotFoundError:
            return
        except exceptions.FirebaseError as error:
            raise Unavailable("The user cannot be deleted at Firebase") from error

    @cached_property
    def _client(self) -> Any:
        return build_auth_client(self._project)


def build_auth_client(project: str) -> Any:
    """Stay out of firebase_admin's registry of apps: it holds one app a name, for good."""
    from firebase_admin import App, auth, credentials

    options = {"projectId": project, "httpTimeout": TIMEOUT_S}
    return auth.Client(App("keepsake", credentials.ApplicationDefault(), options))
