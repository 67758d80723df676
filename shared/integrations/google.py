"""Google's OAuth provider, shared by Gmail and Google Calendar."""

from urllib.parse import urlencode

from shared.domain.connection import OauthClient, Tokens
from shared.integrations.service import OAuthProvider
from shared.ports import EgressRequest

ACCOUNT_URL = "https://openidconnect.googleapis.com/v1/userinfo"


def _build_revocation(_: OauthClient, tokens: Tokens) -> EgressRequest:
    body = urlencode({"token": tokens.refresh_token or tokens.access_token})
    return EgressRequest(
        method="POST",
        url="https://oauth2.googleapis.com/revoke",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        body=body.encode(),
    )


GOOGLE = OAuthProvider(
    name="google",
    authorize_url="https://accounts.google.com/o/oauth2/v2/auth",
    token_url="https://oauth2.googleapis.com/token",  # noqa: S106 - a URL
    build_revocation=_build_revocation,
    authorize_params={
        "access_type": "offline",
        "prompt": "consent",
        "include_granted_scopes": "true",
    },
)
