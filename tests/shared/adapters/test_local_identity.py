"""The secret of a data directory is made once, and for its owner only."""

import stat
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from shared.adapters.embedded.local_identity import read_secret


def test_the_secret_stays_the_same(tmp_path: Path) -> None:
    first = read_secret(tmp_path / "data")

    assert len(first) == 32
    assert read_secret(tmp_path / "data") == first


def test_two_data_directories_have_two_secrets(tmp_path: Path) -> None:
    assert read_secret(tmp_path / "a") != read_secret(tmp_path / "b")


def test_only_the_owner_may_read_the_secret_and_no_draft_is_left(tmp_path: Path) -> None:
    read_secret(tmp_path)

    [secret] = tmp_path.iterdir()
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_threads_that_start_together_read_the_same_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as threads:
        secrets = set(threads.map(read_secret, [tmp_path] * 64))

    assert len(secrets) == 1


def test_processes_that_start_together_read_the_same_secret(tmp_path: Path) -> None:
    with get_context("spawn").Pool(4) as processes:
        secrets = set(processes.map(read_secret, [tmp_path] * 16, chunksize=1))

    assert len(secrets) == 1
