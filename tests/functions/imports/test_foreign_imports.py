"""Imports of another user: neither they nor their uploads can be found, kept or discarded."""

import base64

from functions.library.routes import LIBRARY_ROUTES
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.imports import CHAT, CHAT_NAME, IMPORTS, post_files
from tests.fixtures.library import build_library_deps
from tests.fixtures.processing import ALICE


async def test_an_import_of_another_user_is_not_found(world):
    deps = build_library_deps(world)
    async with (
        open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE)) as alice,
        open_client("library", LIBRARY_ROUTES, deps, build_auth_headers("mallory")) as mallory,
    ):
        path = f"{IMPORTS}/{(await post_files(alice, {CHAT_NAME: CHAT}, preview='true'))['id']}"
        answers = [
            await mallory.get(path),
            await mallory.get(f"{path}/events"),
            await mallory.post(f"{path}/keep", json={}),
            await mallory.delete(path),
        ]
        own = await alice.get(path)

    assert [answer.status_code for answer in answers] == [404] * 4
    assert own.json()["status"] == "preview"


async def test_an_upload_of_another_user_cannot_be_imported(world):
    deps = build_library_deps(world)
    name = base64.b64encode(CHAT_NAME.encode()).decode()
    headers = {"Upload-Length": str(len(CHAT)), "Upload-Metadata": f"filename {name}"}
    part = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    async with (
        open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE)) as alice,
        open_client("library", LIBRARY_ROUTES, deps, build_auth_headers("mallory")) as mallory,
    ):
        location = (await alice.post("/v1/uploads", headers=headers)).headers["Location"]
        await alice.patch(location, content=CHAT.encode(), headers=part)
        body = {"uploads": [location.rpartition("/")[2]]}
        refused = await mallory.post(IMPORTS, json=body)
        accepted = await alice.post(IMPORTS, json=body)

    assert (refused.status_code, accepted.status_code) == (404, 202)
