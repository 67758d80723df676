"""Node packages that a package-lock.json pins, installed."""

import fcntl
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.emulators.process import CannotRunError

CACHE = Path(__file__).parents[2] / ".cache"
LOCK = "package-lock.json"
INSTALL_TIMEOUT_S = 600.0


def install_packages(manifest: Path, name: str) -> Path:
    """Install a folder's package.json and lock below .cache/`name`, unless installed.

    Returns the folder that holds node_modules. Raises CannotRunError.
    """
    folder = CACHE / name
    folder.mkdir(parents=True, exist_ok=True)
    with _lock(folder):
        if not _is_installed(manifest, folder):
            for file in ("package.json", LOCK):
                shutil.copy(manifest / file, folder)
            _npm_ci(folder)
    return folder


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Let one process at a time install; the others wait for it."""
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def find_command(command: str) -> str:
    """Find node or npm. Raises CannotRunError."""
    path = shutil.which(command)
    if path is None:
        raise CannotRunError(f"{command} is not on the PATH: install Node.js 20 or newer")
    return path


def _is_installed(manifest: Path, folder: Path) -> bool:
    """Tell by npm's own lock file whether the installation is complete."""
    ours, theirs = folder / LOCK, folder / "node_modules/.package-lock.json"
    return theirs.exists() and ours.read_bytes() == (manifest / LOCK).read_bytes()


def _npm_ci(folder: Path) -> None:
    command = [find_command("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        subprocess.run(
            command, cwd=folder, check=True, capture_output=True, timeout=INSTALL_TIMEOUT_S
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise CannotRunError(f"{folder.name} cannot be installed: npm ci failed") from error
