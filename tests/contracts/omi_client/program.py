"""Programs that call the product by a key of its user: scripts, and MCP clients."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.contracts.omi_client.phone import Phone

MCP_KEYS = "/v1/mcp/keys"
DEVELOPER_KEYS = "/v1/dev/keys"


def create_key(phone: Phone, path: str = MCP_KEYS, **options: Any) -> str:
    """Create a key as the app does; return what the program is given."""
    key: str = phone.send("POST", path, json={"name": "Script", **options})["key"]
    return key


@contextmanager
def open_program(phone: Phone, key: str) -> Iterator[Phone]:
    """Call the product of this phone with a key, and nothing else of the phone."""
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=phone.http.base_url, headers=headers, timeout=90) as http:
        yield Phone(uid=phone.uid, http=http)
