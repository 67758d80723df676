"""Pairwise user ids: every app knows a user by another id, so that no two apps can compare notes.

An id is the account's, encrypted by a key of the app (AES-SIV): always the same for a user, and only
we can read back whose it is.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from shared.domain.ids import UserId

_PREFIX = "u_"


def create_pairwise_id(user_key: str, uid: UserId) -> str:
    """Return the id by which the app with this key, of 64 hex digits, knows a user."""
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

    encrypted = AESSIV(bytes.fromhex(user_key)).encrypt(uid.encode(), None)
    return _PREFIX + urlsafe_b64encode(encrypted).decode().rstrip("=")


def read_pairwise_id(user_key: str, text: str) -> UserId | None:
    """Return whose id this is; None if it is no id of the app with this key."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

    if not user_key or not text.startswith(_PREFIX):
        return None
    try:
        encoded = text.removeprefix(_PREFIX).encode("ascii")
        encrypted = urlsafe_b64decode(encoded + b"=" * (-len(encoded) % 4))
        return UserId(AESSIV(bytes.fromhex(user_key)).decrypt(encrypted, None).decode())
    except (ValueError, InvalidTag):
        return None
