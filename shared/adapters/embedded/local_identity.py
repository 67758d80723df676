"""Identity of the embedded world: tokens signed by a secret of the data directory."""

import secrets
from datetime import UTC, datetime
from pathlib import Path

from itsdangerous import BadData, URLSafeTimedSerializer

from shared.adapters.embedded.data_folder import read_or_create
from shared.adapters.embedded.password_file import PasswordFile
from shared.domain.account.account import TokenCheck, VerifiedToken
from shared.domain.errors import Invalid, NotAuthenticated
from shared.domain.ids import UserId, is_id

USER_TOKEN_MAX_AGE_S = 30 * 24 * 3600
INVALID_TOKEN = "Invalid authorization token"  # noqa: S105  a message, no token


def read_secret(data_dir: Path, name: str = "secret") -> bytes:
    """Return 32 secret bytes of this data directory, which the first process creates."""
    return read_or_create(data_dir / name, lambda: secrets.token_bytes(32))


class LocalIdentity:
    """Users of the embedded world, named by the process that serves it."""

    def __init__(self, secret: bytes, passwords: PasswordFile | None = None) -> None:
        self._serializer = URLSafeTimedSerializer(secret, salt="user")
        self._passwords = passwords

    def issue(self, uid: str) -> str:
        """Issue a token for a user. Raises Invalid for an id that cannot be part of a path."""
        if not is_id(uid):
            raise Invalid("The name must be 1 to 64 letters, digits, hyphens or underscores.")
        return str(self._serializer.dumps(uid))

    async def verify(self, token: str, *, check: TokenCheck = "standard") -> VerifiedToken:
        """A token holds until the password of its account is changed or taken away."""
        uid, issued_at = _decode_token(self._serializer, token, max_age_s=USER_TOKEN_MAX_AGE_S)
        changed_at = self._passwords.find_change(UserId(uid)) if self._passwords else None
        if changed_at and issued_at < changed_at:
            raise NotAuthenticated(INVALID_TOKEN)
        return VerifiedToken(uid=UserId(uid), issued_at=issued_at)


def _decode_token(
    serializer: URLSafeTimedSerializer, token: str, *, max_age_s: int
) -> tuple[str, datetime]:
    """Return the content of a token, and when it was issued, in whole seconds."""
    try:
        content, issued_at = serializer.loads(token, max_age=max_age_s, return_timestamp=True)
    except BadData as error:
        raise NotAuthenticated(INVALID_TOKEN) from error
    return str(content), issued_at.astimezone(UTC)
