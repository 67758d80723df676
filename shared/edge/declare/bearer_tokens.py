"""Bearer tokens: who calls, as requests and sockets say it alike."""

from starlette.datastructures import Headers

from shared.domain.errors import NotAuthenticated


def parse_bearer_token(headers: Headers) -> str:
    """Return the bearer token. Raises NotAuthenticated with the texts the app knows."""
    header = headers.get("authorization")
    if not header:
        raise NotAuthenticated("Authorization header not found")
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token or " " in token:
        raise NotAuthenticated("Invalid authorization token")
    return token
