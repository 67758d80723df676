"""Smoke test of a deployment, from outside: `python -m infra.deploy.smoke_test https://keepsake.example.org`.

Each check asks for one thing that only a whole deployment answers; nobody signs in.
"""

import argparse
import sys
from collections.abc import Iterator

import httpx

TIMEOUT_S = 20.0
_UNAUTHORIZED, _NOT_FOUND, _MOVED = 401, 404, 301
PRIVATE_PATHS = (
    "/v2/chat-sessions", "/v1/conversations", "/v2/files", "/v1/mcp/memories", "/v1/inbox", "/v1/connections",
)  # fmt: skip
"""A path of each public function that asks who calls."""
SOCKET_PATH = "/v4/listen"
_HANDSHAKE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "a2VlcHNha2Uga2VlcHNhaw==",
}


def find_faults(http: httpx.Client, origin: str) -> Iterator[str]:
    """List what does not answer as it should. Raises httpx.TransportError."""
    config = http.get(f"{origin}/config.json")
    if not config.is_success or config.json().get("sign_in") != "firebase":
        yield f"{origin}/config.json does not tell the console how people sign in."
    page = http.get(origin)
    yield from (
        f"The console is sent without {name}."
        for name in ("content-security-policy", "strict-transport-security")
        if name not in page.headers
    )
    asked = [*((path, {}) for path in PRIVATE_PATHS), (SOCKET_PATH, _HANDSHAKE)]
    for path, headers in asked:
        status = http.get(f"{origin}{path}", headers=headers).status_code
        if status != _UNAUTHORIZED:
            yield f"{path} answers {status} to a stranger, not 401: read the log of its function."
    unknown = http.get(f"{origin}/no-such-page").status_code
    if unknown != _NOT_FOUND:
        yield f"An unknown page answers {unknown}, not 404."
    if origin.startswith("https:"):
        plain = http.get(f"http:{origin.removeprefix('https:')}/").status_code
        if plain != _MOVED:
            yield f"http answers {plain} and does not lead to https."


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask a deployment what only a whole one answers.")
    parser.add_argument("origin")
    origin = parser.parse_args().origin.rstrip("/")
    try:
        with httpx.Client(timeout=TIMEOUT_S, trust_env=False) as http:
            faults = list(find_faults(http, origin))
    except httpx.TransportError as failure:
        sys.exit(
            f"{origin} does not answer ({type(failure).__name__}). After a first deployment: point the domain's A record to"
            " the address that `make deploy` printed; Google then needs up to an hour for its certificate. Run `make smoke-test` until"
            " it passes."
        )
    if faults:
        sys.exit("\n".join(faults))
    sys.stdout.write(
        f"{origin} is well: console, sign-in, {len(PRIVATE_PATHS) + 1} functions, headers.\n"
    )


if __name__ == "__main__":
    main()
