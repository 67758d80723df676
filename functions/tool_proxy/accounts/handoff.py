"""Handoff of an authorization from an app, which has no browser, to the browser that it opens.

The link leads to a page of ours that names the account and asks. So a link that somebody else sends
connects nothing without a click on a page that says whose account it is.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

from functions.tool_proxy.accounts import connections
from functions.tool_proxy.oauth.state import NotConnected
from functions.tool_proxy.oauth_deps import ServicesDeps
from shared.domain.errors import CannotUnwrap
from shared.domain.ids import UserId
from shared.domain.value import value

_PURPOSE = "the handoff of an authorization"


@value
class Handoff:
    """Whose account is to be connected with which service, and where access is allowed."""

    uid: UserId
    label: str
    authorization_id: str
    url: str


async def build_link(deps: ServicesDeps, uid: UserId, name: str) -> str:
    """Begin to connect an account; return the page to open in a browser. Raises as authorize."""
    service = (await connections.get_connectable(deps, uid, name)).service
    redirect = await connections.authorize(deps, uid, name)
    payload = [uid, service.label, redirect.authorization_id, redirect.url]
    wrapped = await deps.keys.wrap(json.dumps(payload).encode(), bound_to=_PURPOSE)
    start_url = deps.redirect_uri.removesuffix("callback") + "start"
    return f"{start_url}?token={urlsafe_b64encode(wrapped).decode()}"


async def read_token(deps: ServicesDeps, token: str) -> Handoff:
    """Raises NotConnected for a token that is not ours."""
    try:
        payload = await deps.keys.unwrap(urlsafe_b64decode(token), bound_to=_PURPOSE)
    except (ValueError, CannotUnwrap) as error:
        raise NotConnected("This link is not one of ours.") from error
    uid, label, authorization_id, url = json.loads(payload)
    return Handoff(uid=UserId(uid), label=label, authorization_id=authorization_id, url=url)


async def describe_account(deps: ServicesDeps, uid: UserId) -> str:
    """Name a user's account for whoever opens the link."""
    name = (await deps.stores.profiles.get(uid)).name
    return f"{name} ({uid})" if name else uid
