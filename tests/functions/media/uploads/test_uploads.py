"""Uploads by tus: nothing is lost and nothing doubled, wherever a part is cut off or repeated."""

import base64
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from httpx import AsyncClient, Response
from hypothesis import given
from hypothesis import strategies as st

from functions.library.routes import LIBRARY_ROUTES
from shared.data.account.quotas import Quotas
from shared.data.files.uploads import Uploads
from shared.domain.account.quota import EMBEDDED_LIMITS
from shared.domain.errors import CallerError, Conflict, Gone, NotFound, TooLarge, Unavailable
from shared.domain.files.upload import MAX_UPLOAD_BYTES, UPLOAD_TTL, Upload
from shared.domain.ids import UserId
from shared.library.deps import LibraryDeps
from shared.library.uploads import (
    EXPIRE_TARGET,
    append_to_upload,
    delete_upload,
    iterate_content,
    start_upload,
    store_file,
)
from tests.fakes import CountingIds, MemoryBlobs, ScriptedModel
from tests.fault_injection import FaultyPort, lose_response, raise_unavailable
from tests.fixtures.callers import open_client
from tests.fixtures.library import build_client, build_library_deps
from tests.fixtures.processing import ALICE, ProcessingFixture, build_processing_fixture
from tests.fixtures.storage import open_database

BOB = UserId("bob")
PART = {"Content-Type": "application/offset+octet-stream", "Tus-Resumable": "1.0.0"}
FILE = bytes(range(256)) * 5


async def create(client: AsyncClient, length: int, **headers: str) -> Response:
    return await client.post("/v1/uploads", headers={"Upload-Length": str(length), **headers})


async def send(client: AsyncClient, path: str, content: bytes, *, offset: int) -> Response:
    headers = {**PART, "Upload-Offset": str(offset)}
    return await client.patch(path, content=content, headers=headers)


async def load_content(world: ProcessingFixture, upload: Upload) -> bytes:
    return b"".join([part async for part in iterate_content(world.blobs, upload.parts)])


async def load_upload(world: ProcessingFixture, upload_id: str) -> Upload:
    return await Uploads(world.documents).get(ALICE, upload_id, now=world.clock.now())


async def count_stored(world: ProcessingFixture, uid: UserId = ALICE) -> int:
    usage = await Quotas(world.documents, {}).load_usage(uid, world.clock.now())
    return usage["stored_bytes"]


async def test_options_tell_the_version_the_extensions_and_the_limit(world) -> None:
    async with open_client("library", LIBRARY_ROUTES, build_library_deps(world), {}) as stranger:
        answer = await stranger.options("/v1/uploads")

    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["Tus-Version"] == "1.0.0"
    assert answer.headers["Tus-Extension"] == "creation,expiration,termination"
    assert answer.headers["Tus-Max-Size"] == str(MAX_UPLOAD_BYTES)


async def test_a_file_is_sent_in_parts_as_tus_says(world, alice):
    metadata = ",".join(
        f"{name} {base64.b64encode(text.encode()).decode()}"
        for name, text in {"filename": "Café.mp3", "filetype": "audio/mpeg"}.items()
    )

    created = await create(alice, 1_280, **{"Upload-Metadata": f"{metadata},is_confidential"})
    path = created.headers["location"]
    first = await send(alice, path, FILE[:500], offset=0)
    asked = await alice.head(path, headers={"Tus-Resumable": "1.0.0"})
    last = await send(alice, path, FILE[500:], offset=500)

    assert (created.status_code, first.status_code, last.status_code) == (201, 204, 204)
    assert created.json()["name"] == "Café.mp3"
    assert (first.headers["upload-offset"], last.headers["upload-offset"]) == ("500", "1280")
    assert (asked.status_code, asked.content) == (200, b"")
    assert (asked.headers["upload-offset"], asked.headers["upload-length"]) == ("500", "1280")
    assert asked.headers["cache-control"] == "no-store"
    assert {answer.headers["tus-resumable"] for answer in (created, first, asked)} == {"1.0.0"}
    assert created.headers["upload-expires"] == "Mon, 09 Mar 2026 12:00:00 GMT"
    assert await load_content(world, await load_upload(world, path.split("/")[-1])) == FILE


@pytest.mark.parametrize(
    ("length", "status", "detail"),
    [
        ("2147483648", 413, "A file has at most 200 MB; this one is larger."),
        (str(MAX_UPLOAD_BYTES + 1), 413, "A file has at most 200 MB"),
        ("9" * 400, 400, "Upload-Length"),
        ("0", 422, "The file is empty."),
        ("-1", 400, "Upload-Length"),
        ("many", 400, "Upload-Length"),
        ("1.0", 400, "Upload-Length"),
        ("1_000", 400, "Upload-Length"),
        (None, 400, "Upload-Length"),
    ],
)
async def test_a_file_of_a_wrong_length_is_refused_at_once(world, alice, length, status, detail):
    headers = {"Upload-Length": length} if length else {}

    answer = await alice.post("/v1/uploads", headers=headers)

    assert answer.status_code == status
    assert detail in answer.json()["detail"]
    assert world.tasks.created == []
    assert await count_stored(world) == 0


@pytest.mark.parametrize("metadata", ["filename %%%", "filename /w==", "x" * 5_000])
async def test_malformed_metadata_is_refused(alice, metadata):
    answer = await create(alice, 10, **{"Upload-Metadata": metadata})

    assert answer.status_code in (400, 422)


async def test_another_version_of_tus_is_refused_with_ours(alice):
    answer = await create(alice, 10, **{"Tus-Resumable": "0.2.2"})

    assert answer.status_code == 412
    assert answer.headers["tus-version"] == "1.0.0"


async def test_a_part_of_another_type_or_beyond_the_length_changes_nothing(alice):
    path = (await create(alice, 10)).headers["location"]

    refused = [
        await alice.patch(path, content=b"x", headers={"Upload-Offset": "0"}),
        await send(alice, path, b"x" * 11, offset=0),
        await send(alice, path, b"x", offset=3),
        await send(alice, path, b"x" * 8_388_609, offset=0),
    ]

    assert [answer.status_code for answer in refused] == [415, 413, 409, 413]
    assert (await alice.head(path)).headers["upload-offset"] == "0"


async def test_uploads_of_another_user_are_not_found(world, alice):
    path = (await create(alice, 10)).headers["location"]

    async with build_client(world, BOB) as bob:
        answers = [
            await bob.get(path),
            await send(bob, path, b"x", offset=0),
            await bob.delete(path),
        ]

    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert (await alice.head(path)).status_code == 200


async def test_announced_bytes_count_as_stored_until_the_upload_is_deleted(world):
    limits = {**EMBEDDED_LIMITS, "stored_bytes": 25}
    async with build_client(world, ALICE, limits) as alice:
        path = (await create(alice, 10)).headers["location"]
        await create(alice, 10)
        refused = await create(alice, 10)
        await send(alice, path, b"x" * 10, offset=0)
        deleted = await alice.delete(path)
        accepted = await create(alice, 10)

    assert (refused.status_code, deleted.status_code, accepted.status_code) == (429, 204, 201)
    assert await count_stored(world) == 20
    assert world.blobs.files == {}


async def test_an_upload_expires_after_seven_days_with_its_bytes(world, alice):
    path = (await create(alice, 10)).headers["location"]
    await send(alice, path, b"12345", offset=0)
    (task,) = world.tasks.list_by_target(EXPIRE_TARGET)
    world.clock.time += UPLOAD_TTL

    late = [await alice.get(path), await send(alice, path, b"x", offset=5)]
    for _ in range(2):
        await delete_upload(build_library_deps(world), ALICE, task.body["upload_id"])

    assert task.at == world.clock.now()
    assert [answer.status_code for answer in late] == [410, 410]
    assert (await alice.get(path)).status_code == 404
    assert (world.blobs.files, await count_stored(world)) == ({}, 0)


async def test_a_deletion_that_was_interrupted_is_completed_by_the_next(world):
    deps = build_library_deps(world)
    upload = await store_file(deps, ALICE, FILE, name="a.mp3", media_type="audio/mpeg")
    broken: Any = FaultyPort(world.blobs, delete_tree=[lose_response])

    with pytest.raises(Unavailable):
        await delete_upload(replace(deps, blobs=broken), ALICE, upload.id)
    with pytest.raises(Gone):
        await load_upload(world, upload.id)
    await delete_upload(deps, ALICE, upload.id)

    with pytest.raises(NotFound):
        await load_upload(world, upload.id)
    assert (world.blobs.files, await count_stored(world)) == ({}, 0)


async def test_an_upload_has_a_bounded_number_of_parts(world):
    deps = build_library_deps(world)
    upload = await start_upload(deps, ALICE, length=2_000, name="", media_type="")
    for offset in range(400):
        await append_to_upload(deps, ALICE, upload.id, b"x", offset=offset)

    with pytest.raises(TooLarge, match="larger ones"):
        await append_to_upload(deps, ALICE, upload.id, b"x", offset=400)
    assert len(world.blobs.files) == 400


@given(
    cuts=st.lists(st.integers(1, len(FILE) - 1), max_size=6, unique=True),
    faults=st.lists(
        st.sampled_from(["none", "repeated", "blob lost", "answer lost", "store lost"]), max_size=12
    ),
)
async def test_wherever_parts_are_cut_and_whatever_fails_every_byte_arrives_once(cuts, faults):
    """The client repeats a part whose answer it did not see, after asking for the offset."""
    with TemporaryDirectory() as folder, open_database(Path(folder)) as database:
        world = build_processing_fixture(database, ScriptedModel(answers={}))
        deps = replace(build_library_deps(world), new_id=CountingIds())
        upload = await start_upload(deps, ALICE, length=len(FILE), name="", media_type="")
        remaining_faults = iter(faults)
        bounds = [0, *sorted(cuts), len(FILE)]
        for start, end in pairwise(bounds):
            while (await load_upload(world, upload.id)).offset < end:
                fault = next(remaining_faults, "none")
                await _attempt(deps, world, upload, start, end, fault)

        stored = await load_upload(world, upload.id)

        assert stored.is_complete
        assert await load_content(world, stored) == FILE
        await delete_upload(deps, ALICE, upload.id)
        assert (world.blobs.files, await count_stored(world)) == ({}, 0)


async def _attempt(
    deps: LibraryDeps, world: ProcessingFixture, upload: Upload, start: int, end: int, fault: str
) -> None:
    ports: dict[str, Any] = {
        "blob lost": {"blobs": FaultyPort(world.blobs, write=[raise_unavailable])},
        "answer lost": {"blobs": FaultyPort(world.blobs, write=[lose_response])},
    }.get(fault, {})
    if fault == "store lost":
        documents: Any = FaultyPort(world.documents, transaction=[lose_response])
        ports = {"stores": type(deps.stores)(documents)}
    with suppress(Unavailable):
        await append_to_upload(
            replace(deps, **ports), ALICE, upload.id, FILE[start:end], offset=start
        )
    if fault == "repeated":
        with pytest.raises(Conflict):
            await append_to_upload(deps, ALICE, upload.id, FILE[start:end], offset=start)


async def test_of_two_parts_at_one_offset_one_is_kept_whole(world):
    """Both are written before either moves the offset."""
    deps = build_library_deps(world)
    upload = await start_upload(deps, ALICE, length=10, name="", media_type="")

    class LateBlobs(MemoryBlobs):
        async def write(self, path: str, content: bytes, *, media_type: str) -> None:
            await world.blobs.write(path, content, media_type=media_type)
            await append_to_upload(deps, ALICE, upload.id, b"other", offset=0)

        async def delete(self, paths: Any) -> None:
            await world.blobs.delete(paths)

    with pytest.raises(CallerError):
        await append_to_upload(
            replace(deps, blobs=LateBlobs(), new_id=CountingIds("late")),
            ALICE,
            upload.id,
            b"first",
            offset=0,
        )

    assert await load_content(world, await load_upload(world, upload.id)) == b"other"
    assert [*world.blobs.files.values()] == [b"other"]
