"""Blobs contract: whole files under paths of users, in memory, in a folder and in Cloud Storage."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from shared.adapters.blob_rules import MAX_BLOB_BYTES
from shared.adapters.cloud.gcs_blobs import GcsBlobs
from shared.adapters.embedded.disk_blobs import DiskBlobs
from shared.domain.errors import Invalid, NotFound, Unavailable
from shared.ports import Blobs
from tests.fakes import MemoryBlobs
from tests.servers import run_server
from tests.servers.gcs import BUCKET, FakeGcs

PATH = "users/alice/uploads/u1/0-x9"


@pytest.fixture
def gcs() -> FakeGcs:
    return FakeGcs()


@pytest.fixture
def gcs_url(gcs: FakeGcs) -> Iterator[str]:
    with run_server(gcs.app) as url:
        yield url


@pytest.fixture(params=["memory", "disk", "gcs"])
async def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Blobs]:
    if request.param == "memory":
        yield MemoryBlobs()
        return
    if request.param == "disk":
        yield DiskBlobs(tmp_path / "blobs")
        return
    gcs_blobs = GcsBlobs(BUCKET, address=request.getfixturevalue("gcs_url"))
    yield gcs_blobs
    await gcs_blobs.aclose()


async def write(blobs: Blobs, path: str, content: bytes = b"sound") -> None:
    await blobs.write(path, content, media_type="audio/mpeg")


@pytest.mark.parametrize("content", [b"", b"\x00\xff\r\n", b"x" * MAX_BLOB_BYTES])
async def test_what_was_written_is_read(blobs: Blobs, content: bytes):
    await write(blobs, PATH, content)

    assert await blobs.read(PATH) == content


async def test_a_repeated_write_takes_the_place_of_the_first(blobs: Blobs):
    await write(blobs, PATH, b"a longer first")
    await write(blobs, PATH, b"second")

    assert await blobs.read(PATH) == b"second"


async def test_a_missing_file_is_not_found(blobs: Blobs):
    await write(blobs, PATH)

    for path in ("users/alice/uploads/u1/0-x8", "users/alice/uploads/u1", "users/bob/uploads/u1"):
        with pytest.raises(NotFound):
            await blobs.read(path)


async def test_deleted_files_are_gone_and_a_missing_one_is_no_error(blobs: Blobs):
    paths = [f"users/alice/uploads/u1/{number}" for number in range(12)]
    for path in paths:
        await write(blobs, path)

    await blobs.delete([*paths[1:], "users/alice/uploads/u2/0"])
    await blobs.delete(paths[1:])

    assert await blobs.read(paths[0]) == b"sound"
    for path in paths[1:]:
        with pytest.raises(NotFound):
            await blobs.read(path)


async def test_a_tree_is_deleted_with_everything_below_and_nothing_beside(blobs: Blobs):
    below = [f"users/alice/uploads/u{number}/0-x" for number in range(8)]
    beside = ["users/alice2/uploads/u1/0-x", "users/alice/audio/a1/0-x"]
    for path in [*below, *beside]:
        await write(blobs, path)

    await blobs.delete_tree("users/alice/uploads")
    await blobs.delete_tree("users/alice/uploads")

    assert [await blobs.read(path) for path in beside] == [b"sound"] * 2
    for path in below:
        with pytest.raises(NotFound):
            await blobs.read(path)


@pytest.mark.parametrize(
    "path",
    [
        *("", "users", "alice", "/users/alice/a", "users//a", "users/alice/", "users/../x/a"),
        *("users/alice/..", "users/alice/.a", "users/alice/a b", "users/alice/a\n", "apps/a/b"),
    ],
)
async def test_a_path_that_could_lead_elsewhere_is_refused(blobs: Blobs, path: str):
    with pytest.raises(Invalid):
        await write(blobs, path)
    with pytest.raises(Invalid):
        await blobs.read(path)
    with pytest.raises(Invalid):
        await blobs.delete([path])
    with pytest.raises(Invalid):
        await blobs.delete_tree(path)


async def test_a_file_that_is_too_large_is_refused(blobs: Blobs):
    with pytest.raises(Invalid):
        await write(blobs, PATH, b"x" * (MAX_BLOB_BYTES + 1))


@pytest.mark.parametrize("status", [403, 429, 500, 503])
async def test_a_bucket_that_refuses_is_unavailable(gcs: FakeGcs, gcs_url: str, status: int):
    blobs = GcsBlobs(BUCKET, address=gcs_url)
    await write(blobs, PATH)
    gcs.failure = status

    with pytest.raises(Unavailable):
        await write(blobs, PATH)
    with pytest.raises(Unavailable):
        await blobs.read(PATH)
    with pytest.raises(Unavailable):
        await blobs.delete([PATH])
    with pytest.raises(Unavailable):
        await blobs.delete_tree("users/alice")
    await blobs.aclose()


async def test_a_bucket_out_of_reach_is_unavailable():
    blobs = GcsBlobs(BUCKET, address="http://127.0.0.1:9")

    with pytest.raises(Unavailable):
        await blobs.read(PATH)
    await blobs.aclose()


async def test_the_bucket_is_told_the_type_of_a_file(gcs: FakeGcs, gcs_url: str):
    blobs = GcsBlobs(BUCKET, address=gcs_url)

    await write(blobs, PATH)

    assert gcs.objects == {PATH: (b"sound", "audio/mpeg")}
    await blobs.aclose()


async def test_files_of_the_folder_are_closed_to_other_accounts(tmp_path: Path):
    await write(DiskBlobs(tmp_path / "blobs"), PATH)

    modes = {path.stat().st_mode & 0o077 for path in (tmp_path / "blobs").rglob("*")}
    assert modes == {0}
    assert [path.name for path in (tmp_path / "blobs").rglob("*") if path.is_file()] == ["0-x9"]
