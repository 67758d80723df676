"""Registrations of programs (RFC 7591) that nobody stores: a client id holds what its program registered.

A stranger may register without end and so takes no place. Who holds the key alone can write such an id.

Also called: stateless client identifier.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from itsdangerous import BadData, URLSafeSerializer

from shared.domain.value import value

REGISTRATION_LIFETIME: Final = timedelta(days=365)


@value
class ProgramClient:
    """A program that asks its user's leave; `document_host` is who vouches for the name, None for nobody."""

    id: str
    name: str
    redirect_uris: Sequence[str]
    document_host: str | None = None


class ProgramRegistrations:
    """Issues client ids, and reads those that it issued and that have not expired."""

    def __init__(self, key: bytes) -> None:
        self._serializer = URLSafeSerializer(
            key,
            salt="registration of a program",
            signer_kwargs={"digest_method": sha256, "key_derivation": "hmac"},
        )

    def issue(self, name: str, redirect_uris: Sequence[str], now: datetime) -> str:
        """Return a client id that holds for REGISTRATION_LIFETIME."""
        expires_at_s = int((now + REGISTRATION_LIFETIME).timestamp())
        return str(self._serializer.dumps([expires_at_s, name, list(redirect_uris)]))

    def read(self, client_id: str, now: datetime) -> ProgramClient | None:
        """Return who registered; None for an id that is not ours or has expired."""
        try:
            expires_at_s, name, redirect_uris = self._serializer.loads(client_id)
        except BadData:
            return None
        if expires_at_s <= now.timestamp():
            return None
        return ProgramClient(id=client_id, name=name, redirect_uris=redirect_uris)
