"""OAuth state: an encrypted token that names the user and the authorization until the callback.

Also called: state parameter.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import timedelta

from shared.domain.errors import CannotUnwrap, Conflict
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.ports import Keys

AUTHORIZATION_TTL = timedelta(minutes=10)


class NotConnected(Conflict):
    """No account was connected; the message is for the user in the browser."""


@value
class AuthorizationRedirect:
    """Where to send a user, and the id that binds the authorization to their browser."""

    url: str
    authorization_id: str


@value
class CallbackState:
    """The user and the authorization of a state; the caller checks the browser or the user."""

    uid: UserId
    authorization_id: str


async def issue_state(keys: Keys, uid: UserId, authorization_id: str, *, purpose: str) -> str:
    """Wrap user and authorization; the state is valid for this purpose only."""
    payload = json.dumps([uid, authorization_id]).encode()
    return urlsafe_b64encode(await keys.wrap(payload, bound_to=purpose)).decode()


async def verify_state(keys: Keys, state: str, *, purpose: str) -> CallbackState:
    """Unwrap a state. Raises NotConnected if it is not ours."""
    try:
        payload = await keys.unwrap(urlsafe_b64decode(state), bound_to=purpose)
    except (ValueError, CannotUnwrap) as error:
        raise NotConnected("This link is not one of ours.") from error
    uid, authorization_id = json.loads(payload)
    return CallbackState(uid=UserId(uid), authorization_id=authorization_id)
