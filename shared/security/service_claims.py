"""Claims of service tokens: their audience, account and expiry are checked alike in both worlds."""

from collections.abc import Collection
from datetime import datetime

from shared.domain.errors import NotAllowed, NotAuthenticated
from shared.domain.value import value

INVALID_TOKEN = "Invalid authorization token"  # noqa: S105  a message, no token


@value
class ServiceClaims:
    """The claims of a token whose signature was checked. `expires_at` is in UTC."""

    audience: str
    account: str
    expires_at: datetime


def check_claims(
    claims: ServiceClaims, *, audience: str, accounts: Collection[str], now: datetime
) -> None:
    """Refuse a token that is not for this call.

    Raises NotAuthenticated for another audience and after its expiry, and NotAllowed for another
    account.
    """
    if claims.audience != audience or claims.expires_at <= now:
        raise NotAuthenticated(INVALID_TOKEN)
    if claims.account not in accounts:
        raise NotAllowed("This account may not call this function.")
