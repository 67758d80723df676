"""Delegations: short-lived signed statements that a function acts for one user.

The function that verified the user signs one for each call, and the tool proxy takes the user from
it and from nowhere else. Keys have a purpose: who can sign tool calls cannot disconnect accounts.

Also called: on behalf of, token exchange.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from itsdangerous import BadData, URLSafeSerializer

from shared.domain.errors import NotAllowed
from shared.domain.ids import UserId
from shared.security.service_claims import CLOCK_SKEW

if TYPE_CHECKING:
    from shared.ports import Clock

Purpose = Literal["tool_call", "disconnect"]
DELEGATION_HEADER = "Keepsake-Delegation"
DISCONNECT_CALL_ID = "disconnect"
LIFETIME_S = 60
"""Longer than a call and its second attempt; a call that waits for its owner is signed afterwards."""
SKEW_S = CLOCK_SKEW.total_seconds()
REFUSAL = "The user of this call is not confirmed."


class Delegations:
    """Signs with the newest key of a purpose and accepts all of them, oldest first in `keys`.

    A purpose without keys can be neither signed nor verified.
    """

    def __init__(self, keys: Mapping[Purpose, Sequence[str]], clock: "Clock") -> None:
        self._serializers = {
            purpose: _build_serializer(purpose, secrets)
            for purpose, secrets in keys.items()
            if secrets
        }
        self._clock = clock

    def sign(self, purpose: Purpose, uid: UserId, call_id: str) -> str:
        """State that this call is made for `uid`."""
        expires_at = self._clock.now().timestamp() + LIFETIME_S
        return str(self._serializers[purpose].dumps([uid, call_id, expires_at]))

    def verify(self, token: str, purpose: Purpose, call_id: str) -> UserId:
        """Return the user. Raises NotAllowed unless it was signed for this call and still holds."""
        serializer = self._serializers.get(purpose)
        if serializer is None:
            raise NotAllowed(REFUSAL)
        try:
            uid, signed_call_id, expires_at = serializer.loads(token)
        except BadData as error:
            raise NotAllowed(REFUSAL) from error
        if signed_call_id != call_id or expires_at <= self._clock.now().timestamp() - SKEW_S:
            raise NotAllowed(REFUSAL)
        return UserId(uid)


def _build_serializer(purpose: Purpose, secrets: Sequence[str]) -> URLSafeSerializer:
    return URLSafeSerializer(
        list(secrets),
        salt=f"delegation {purpose}",
        signer_kwargs={"digest_method": sha256, "key_derivation": "hmac"},
    )
