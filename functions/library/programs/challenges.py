"""Challenges: how a program without the right to something learns how to ask its owner for it (RFC 9728).

Also called: WWW-Authenticate, step-up authorization.
"""

from typing import Final
from urllib.parse import urlsplit

from shared.domain.account.api_key import KeyScope
from shared.edge.declare.problems import RequestRejected, build_problem

SCOPES: Final = ("read", "write")


def get_resource(public_url: str) -> str:
    """Return the address that stands for the MCP server, which tokens are bound to."""
    return f"{public_url}/v1/mcp"


def is_our_resource(resource: str, public_url: str) -> bool:
    """Tell whether tokens for this address are ours to give; clients of before name none."""
    ours = urlsplit(get_resource(public_url))
    try:
        parts = urlsplit(resource)
    except ValueError:
        return False
    is_our_origin = (parts.scheme, parts.netloc.lower()) == (ours.scheme, ours.netloc.lower())
    is_below = f"{parts.path.rstrip('/')}/".startswith(f"{ours.path}/")
    return not resource or (is_our_origin and is_below and not parts.fragment)


def write_scope(scope: KeyScope) -> str:
    return "read write" if scope == "write" else "read"


def refuse_token(public_url: str, reason: str, *, is_sent: bool) -> RequestRejected:
    """Build the refusal of a program that nobody let in, or not any more; `is_sent` if it brought something."""
    error = 'error="invalid_token", ' if is_sent else ""
    return _refuse(401, reason, public_url, f'{error}scope="{write_scope("read")}"')


def refuse_scope(public_url: str) -> RequestRejected:
    """Build the refusal of a program that was let in to read, and has to ask for more."""
    error = f'error="insufficient_scope", scope="{write_scope("write")}"'
    return _refuse(403, "This program was let in to read only.", public_url, error)


def _refuse(status: int, detail: str, public_url: str, fields: str) -> RequestRejected:
    metadata = f"{public_url}/.well-known/oauth-protected-resource/v1/mcp"
    challenge = f'Bearer resource_metadata="{metadata}", {fields}'
    return RequestRejected(build_problem(status, detail, headers={"WWW-Authenticate": challenge}))
