"""Certificates that clients of our own services and of models trust.

Also called: CA bundle, TLS context.
"""

import ssl
from functools import cache


@cache
def load_trust_store() -> ssl.SSLContext:
    """Load what is trusted once for all clients: each time costs 35 ms, of a cold start as well."""
    import httpx

    return httpx.create_ssl_context()
