"""Modes of the data folder and of its files (S9)."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.adapters.embedded.data_folder import prepare_folder, read_or_create
from shared.adapters.embedded.sqlite_database import SqliteDatabase


@pytest.fixture(autouse=True)
def _generous_umask() -> Iterator[None]:
    """Run with the widest umask, so that no mode is right by accident."""
    previous = os.umask(0)
    yield
    os.umask(previous)


def read_mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def read_modes(folder: Path) -> dict[str, int]:
    return {file.name: read_mode(file) for file in folder.iterdir()}


def open_to_everyone(folder: Path) -> None:
    for file in folder.iterdir():
        file.chmod(0o644)


def test_a_new_folder_and_file_are_private_s9(tmp_path: Path) -> None:
    read_or_create(tmp_path / "data" / "secret", lambda: b"secret")

    assert read_mode(tmp_path / "data") == 0o700
    assert read_mode(tmp_path / "data" / "secret") == 0o600


def test_an_open_folder_and_an_open_file_are_closed_s9(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    (folder / "secret").write_bytes(b"old")

    content = read_or_create(folder / "secret", lambda: b"new")

    assert content == b"old"
    assert (read_mode(folder), read_mode(folder / "secret")) == (0o700, 0o600)


@pytest.mark.parametrize("mode", [0o1777, 0o755])
def test_a_common_folder_is_refused_and_stays_as_it_is_s9(tmp_path: Path, mode: int) -> None:
    (tmp_path / "common" / "of others").mkdir(parents=True)
    (tmp_path / "common").chmod(mode)

    with pytest.raises(PermissionError, match="close it with chmod 700"):
        prepare_folder(tmp_path / "common")

    assert read_mode(tmp_path / "common") == mode


def test_a_closed_folder_may_hold_anything_s9(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o700)
    (tmp_path / "closed" / "more").mkdir()

    prepare_folder(tmp_path / "closed")

    assert read_modes(tmp_path) == {"closed": 0o700}
    assert list(read_modes(tmp_path / "closed")) == ["more"]


async def test_the_database_and_its_logs_are_private_s9(tmp_path: Path) -> None:
    path = tmp_path / "data" / "keepsake.db"
    database = SqliteDatabase(path)
    await database.write(lambda connection: connection.execute("CREATE TABLE t (x)"))

    modes = read_modes(path.parent)
    database.close()

    assert modes == dict.fromkeys(("keepsake.db", "keepsake.db-wal", "keepsake.db-shm"), 0o600)


async def test_an_open_database_is_closed_to_others_s9(tmp_path: Path) -> None:
    path = tmp_path / "keepsake.db"
    first = SqliteDatabase(path)
    await first.write(lambda connection: connection.execute("CREATE TABLE t (x)"))
    open_to_everyone(tmp_path)

    second = SqliteDatabase(path)
    modes = read_modes(tmp_path)
    first.close()
    second.close()

    assert set(modes.values()) == {0o600}
