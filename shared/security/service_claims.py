"""Claims of service tokens: their audience, account and expiry are checked alike in both worlds."""

import re
from collections.abc import Collection
from datetime import datetime, timedelta

from shared.domain.errors import NotAllowed, NotAuthenticated
from shared.domain.value import value

INVALID_TOKEN = "Invalid authorization token"  # noqa: S105  a message, no token

CLOCK_SKEW = timedelta(minutes=5)
"""How far the clocks of whoever issues and whoever checks may differ."""


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
    if claims.audience != audience or claims.expires_at + CLOCK_SKEW <= now:
        raise NotAuthenticated(INVALID_TOKEN)
    if claims.account not in accounts:
        raise NotAllowed("This account may not call this function.")


def names_service(audience: str, service: str) -> bool:
    """Tell whether an audience is a URL of a Cloud Run service, in a form that Google documents or uses.

    Its host is `SERVICE-NUMBER.REGION.run.app` or `SERVICE-HASH-REGION.a.run.app`; path and query may follow, as in
    the URLs that Eventarc pushes to.
    """
    host = rf"{re.escape(service)}-(?:\d+\.[a-z]+-[a-z]+\d+|[a-z0-9]+-[a-z]{{2,4}}\.a)\.run\.app"
    return re.fullmatch(rf"https://{host}(?:[/?].*)?", audience) is not None
