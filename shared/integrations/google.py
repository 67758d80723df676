"""How accounts at Google are connected."""

from urllib.parse import urlencode

from shared.domain.connection import OauthClient, Tokens
from shared.integrations.service import Provider
from shared.ports import EgressRequest

ACCOUNT = "https://openidconnect.googleapis.com/v1/userinfo"


def _revocation(_: OauthClient, tokens: Tokens) -> EgressRequest:
    body = urlencode({"token": tokens.refresh_token or tokens.access_token})
    return EgressRequest(
        method="POST",
        url="https://oauth2.googleapis.com/revoke",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        body=body.encode(),
    )


GOOGLE = Provider(
    name="google",
    authorize_url="https://accounts.google.com/o/oauth2/v2/auth",
    token_url="https://oauth2.googleapis.com/token",  # noqa: S106 - an address
    revocation=_revocation,
    asks={"access_type": "offline", "prompt": "consent", "include_granted_scopes": "true"},
)
