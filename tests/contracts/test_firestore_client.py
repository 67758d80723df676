"""Private parts of Firestore's client: the pinned release has those that we take, and the newest one.

Run with a folder that holds another release, this file tries it.
"""

import asyncio
import os
import subprocess
import sys
import sysconfig
import threading
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from google.api_core.exceptions import GoogleAPICallError
from google.auth.credentials import AnonymousCredentials, Credentials
from google.cloud.firestore import AsyncClient
from google.cloud.firestore_v1.types import (
    BeginTransactionResponse,
    ListDocumentsRequest,
    ListDocumentsResponse,
)

from shared.adapters.cloud import firestore_client

ROOT = Path(__file__).parents[2]
EMULATOR = "FIRESTORE_EMULATOR_HOST"
NAME = "google-cloud-firestore"
INSTALL_TIMEOUT_S = 120
TIMEOUT_S = 20
USERS = ("ann", "bob", "cleo")


class FetchedToken(Credentials):
    """Credentials that tell when somebody asked for their token."""

    def __init__(self) -> None:
        super().__init__()
        self.is_fetched = threading.Event()

    def refresh(self, request: object) -> None:
        self.token = "token"
        self.is_fetched.set()


class ListingStore(grpc.GenericRpcHandler):
    """A store that lists USERS, begins transactions, and rolls none back."""

    def service(self, handler_call_details):
        match handler_call_details.method.rsplit("/", 1)[1]:
            case "ListDocuments":
                return grpc.unary_unary_rpc_method_handler(
                    list_documents,
                    ListDocumentsRequest.deserialize,
                    ListDocumentsResponse.serialize,
                )
            case "BeginTransaction":
                return grpc.unary_unary_rpc_method_handler(
                    begin, response_serializer=BeginTransactionResponse.serialize
                )
        return None  # the client hears that this is not implemented


async def list_documents(request, _):
    first = int(request.page_token or 0)
    following = first + request.page_size
    return ListDocumentsResponse(
        documents=[
            {"name": f"{request.parent}/{request.collection_id}/{uid}"}
            for uid in USERS[first:following]
        ],
        next_page_token=str(following) if following < len(USERS) else "",
    )


async def begin(*_):
    return BeginTransactionResponse(transaction=b"one")


@asynccontextmanager
async def run_store() -> AsyncIterator[str]:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((ListingStore(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(grace=None)


async def try_client(environ: MutableMapping[str, str]) -> None:
    """Ask for everything that our module takes of a client."""
    environ.pop(EMULATOR, None)
    credentials = FetchedToken()
    far = AsyncClient("project", credentials, client_options={"api_endpoint": "127.0.0.1:1"})
    assert firestore_client.get_emulator(far) is None
    firestore_client.connect(far)
    assert credentials.is_fetched.wait(TIMEOUT_S)
    async with run_store() as address:
        environ[EMULATOR] = address
        client = AsyncClient("project", AnonymousCredentials())
        assert firestore_client.get_emulator(client) == address
        await try_pages(client)
        await try_rollbacks(client)


async def try_pages(client: AsyncClient) -> None:
    first = await firestore_client.list_page(client, "users", 2, None, timeout_s=TIMEOUT_S)
    last = await firestore_client.list_page(
        client, "users", 2, first.next_page_token, timeout_s=TIMEOUT_S
    )
    names = [document.name.rsplit("/", 1)[1] for document in (*first.documents, *last.documents)]
    assert (names, last.next_page_token) == (list(USERS), "")


async def try_rollbacks(client: AsyncClient) -> None:
    never_began = firestore_client.QuietTransaction(client)
    await never_began._rollback()
    began = firestore_client.QuietTransaction(client)
    await began._begin()
    assert began.in_progress
    await began._rollback()  # the store refuses it
    with pytest.raises((ValueError, GoogleAPICallError)):
        await super(firestore_client.QuietTransaction, never_began)._rollback()


async def test_the_pinned_client_has_what_we_take_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(EMULATOR, "")  # what it was is put back
    await try_client(os.environ)


def test_the_newest_client_has_what_we_take_of_it(tmp_path: Path) -> None:
    """A release that changes it fails here before anybody pins it."""
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-qq",
        "--no-deps",
        "--target",
        str(tmp_path),
    ]
    try:
        subprocess.run([*install, NAME], check=True, capture_output=True, timeout=INSTALL_TIMEOUT_S)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failure:
        if os.environ.get("REQUIRE_ALL") == "1":
            pytest.fail(f"the newest {NAME} cannot be installed: {failure}")
        pytest.skip("no package index answers")

    # Without `site`, whose path files would settle where the packages of Google are.
    path = os.pathsep.join(map(str, (tmp_path, ROOT, sysconfig.get_path("purelib"))))
    tried = subprocess.run(
        [sys.executable, "-PS", "-m", "tests.contracts.test_firestore_client"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=INSTALL_TIMEOUT_S,
        check=False,
    )

    assert tried.returncode == 0, tried.stderr
    assert Path(tried.stdout.strip()).is_relative_to(tmp_path)


if __name__ == "__main__":
    asyncio.run(try_client(os.environ))
    print(sys.modules["google.cloud.firestore"].__file__)  # noqa: T201 - read by the test
