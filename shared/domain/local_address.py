"""Local addresses: what is sent there stays on this machine."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_local_url(url: str) -> bool:
    """Tell whether a URL leads to this machine itself."""
    return is_loopback(urlsplit(url).hostname or "")
