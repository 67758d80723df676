"""Private parts of Firestore's client that we need: the one place that a release of it can break.

A test tries each against the release that is pinned and against the newest one.
"""

import threading
from contextlib import suppress
from typing import Any

from google.api_core.exceptions import GoogleAPICallError
from google.auth.exceptions import GoogleAuthError
from google.auth.transport.requests import Request
from google.cloud import firestore


def get_emulator(client: firestore.AsyncClient) -> str | None:
    """Return the address of the emulator that a client asks; None where it asks Google."""
    address: str | None = client._emulator_host  # noqa: SLF001
    return address


def connect(client: firestore.AsyncClient) -> None:
    """Begin to connect in the loop that runs, and to fetch a token; what fails is tried by the first call again."""
    transport = client._firestore_api.transport  # noqa: SLF001 - the client makes it with its first call
    transport.grpc_channel.get_state(try_to_connect=True)
    threading.Thread(target=_fetch_token, args=(client,), daemon=True).start()


def _fetch_token(client: firestore.AsyncClient) -> None:
    credentials = client._credentials  # noqa: SLF001 - those that its calls carry
    with suppress(GoogleAuthError):
        credentials.before_request(Request(), "POST", f"https://{client._target}/", {})  # noqa: SLF001


async def list_page(
    client: firestore.AsyncClient,
    collection: str,
    limit: int,
    token: str | None,
    *,
    timeout_s: float,
) -> Any:
    """Return one answer; the client's own method lists all pages and takes no token."""
    request = {
        "parent": f"{client._database_string}/documents",  # noqa: SLF001
        "collection_id": collection,
        "page_size": limit,
        "page_token": token or "",
        "show_missing": True,
        "mask": {"field_paths": None},
    }
    answers = await client._firestore_api.list_documents(  # noqa: SLF001
        request=request,
        metadata=client._rpc_metadata,  # noqa: SLF001
        timeout=timeout_s,
    )
    return await anext(aiter(answers.pages))


class QuietTransaction(firestore.AsyncTransaction):
    """The client's transaction, whose rollback does not hide why it is rolled back.

    The client rolls back also what never began, as when the store is away, and calls that a ValueError.
    """

    async def _rollback(self) -> None:
        if self.in_progress:
            with suppress(GoogleAPICallError):
                await super()._rollback()
