"""Connected programs: MCP clients that their owner let in by OAuth, and the secrets that prove it.

Also called: OAuth grant, access token, refresh token, authorization code.
"""

import base64
import hashlib
import hmac
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Literal

from shared.domain.account.api_key import KeyScope
from shared.domain.errors import NotAuthenticated
from shared.domain.ids import UserId, is_id
from shared.domain.value import value

CODE_LIFETIME: Final = timedelta(minutes=2)
ACCESS_LIFETIME: Final = timedelta(hours=1)
IDLE_LIFETIME: Final = timedelta(days=60)
"""A program that does not come back for so long has to be connected anew."""
REPEAT_TIME: Final = timedelta(minutes=1)
"""So long a refresh is answered alike: an answer may be lost, and two devices may refresh at once."""

SecretKind = Literal["code", "access", "refresh"]
_PREFIXES: Final = {"code": "ks_oac_", "access": "ks_oat_", "refresh": "ks_ort_"}


@value
class ProgramSecret:
    """A code or a token: it names its user and its program, so that no look-up crosses users.

    It is stored as `hash`, the SHA-256 of `text`.
    """

    kind: SecretKind
    uid: UserId
    program_id: str
    text: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def build_secret(kind: SecretKind, uid: UserId, program_id: str, random_text: str) -> ProgramSecret:
    text = f"{_PREFIXES[kind]}{uid}.{program_id}.{random_text}"
    return ProgramSecret(kind=kind, uid=uid, program_id=program_id, text=text)


def derive_secret(kind: SecretKind, given: ProgramSecret, key: bytes) -> ProgramSecret:
    """Build what a program gets for a secret, the same each time; only who has the key can tell it."""
    content = f"what a program gets: {kind} {given.text}".encode()
    return build_secret(
        kind, given.uid, given.program_id, _to_base64(hmac.digest(key, content, hashlib.sha256))
    )


def parse_secret(text: str, *kinds: SecretKind) -> ProgramSecret:
    """Read what a secret of one of these kinds names, which proves nothing. Raises NotAuthenticated."""
    for kind in kinds:
        uid, _, rest = text.removeprefix(_PREFIXES[kind]).partition(".")
        program_id, _, random_text = rest.partition(".")
        if text.startswith(_PREFIXES[kind]) and is_id(uid) and is_id(program_id) and random_text:
            return ProgramSecret(kind=kind, uid=UserId(uid), program_id=program_id, text=text)
    raise NotAuthenticated("Invalid authorization token")


def is_access_token(text: str) -> bool:
    return text.startswith(_PREFIXES["access"])


@value
class CodeProof:
    """What comes with a code; `verifier` is the secret of PKCE (RFC 7636)."""

    client_id: str
    redirect_uri: str
    verifier: str


@value
class IssuedTokens:
    """The tokens that a program gets in the place of those before; each holds until its time."""

    access: ProgramSecret
    access_expires_at: datetime
    refresh: ProgramSecret
    refresh_expires_at: datetime


@value
class ConnectedProgram:
    """A program as it is stored: first with a code, then with the hashes of its last tokens.

    `expires_at` is the end of the code, and then of the refresh token. `resource` is the server that its
    tokens are for (RFC 8707). `last_used_at` is about an hour exact.
    """

    id: str
    client_id: str
    name: str
    redirect_uri: str
    scope: KeyScope
    resource: str
    created_at: datetime
    expires_at: datetime
    code_hash: str
    code_challenge: str
    access_hash: str = ""
    access_expires_at: datetime | None = None
    refresh_hash: str = ""
    last_used_at: datetime | None = None

    @property
    def is_connected(self) -> bool:
        """Whether its code was exchanged; until then nothing can be done by it."""
        return bool(self.refresh_hash)

    @property
    def is_one_installation(self) -> bool:
        """Whether its client id is its own; one with a document at an address shares it with all others."""
        return not self.client_id.startswith("https://")

    def is_proven_by(self, proof: CodeProof) -> bool:
        challenge = _to_base64(hashlib.sha256(proof.verifier.encode()).digest())
        return (
            proof.client_id == self.client_id
            and proof.redirect_uri == self.redirect_uri
            and hmac.compare_digest(challenge, self.code_challenge)
        )

    def matches(self, secret: ProgramSecret) -> bool:
        """Tell whether this is its secret of the kind, the last one that it got."""
        hashes = {"code": self.code_hash, "access": self.access_hash, "refresh": self.refresh_hash}
        return hmac.compare_digest(hashes[secret.kind], secret.hash)

    def has_just_got(self, tokens: IssuedTokens) -> bool:
        """Tell whether these are its last tokens, given for the same secret less than REPEAT_TIME ago."""
        return (
            self.access_expires_at is not None
            and hmac.compare_digest(self.refresh_hash, tokens.refresh.hash)
            and tokens.access_expires_at - self.access_expires_at < REPEAT_TIME
        )

    def with_tokens(self, tokens: IssuedTokens) -> "ConnectedProgram":
        return replace(
            self,
            access_hash=tokens.access.hash,
            access_expires_at=tokens.access_expires_at,
            refresh_hash=tokens.refresh.hash,
            expires_at=tokens.refresh_expires_at,
        )


def _to_base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
