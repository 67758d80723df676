"""Domain of a deployment: whether its name leads to the load balancer yet: `python -m infra.deploy.domain HOST ADDRESS`."""

import argparse
import socket
import sys
from collections.abc import Callable
from typing import Any

Resolve = Callable[..., list[Any]]


def find_addresses(host: str, resolve: Resolve = socket.getaddrinfo) -> set[str]:
    """Return the IPv4 addresses of a name; none where it has none yet, or nobody can be asked."""
    try:
        rows = resolve(host, 443, family=socket.AF_INET)
    except OSError:
        return set()
    return {str(address[0]) for *_, address in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description="Tell whether a name leads to an address.")
    parser.add_argument("host")
    parser.add_argument("address")
    options = parser.parse_args()
    sys.exit(options.address not in find_addresses(options.host))


if __name__ == "__main__":
    main()
