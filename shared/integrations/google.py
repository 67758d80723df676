"""Google's OAuth provider, shared by Gmail and Google Calendar."""

from shared.domain.apps.connection import OauthClient, Tokens
from shared.integrations.service import OAuthProvider, build_form_revocation
from shared.ports import EgressRequest

ACCOUNT_URL = "https://openidconnect.googleapis.com/v1/userinfo"


def _build_revocation(_: OauthClient, tokens: Tokens) -> EgressRequest:
    return build_form_revocation("https://oauth2.googleapis.com/revoke", tokens)


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
