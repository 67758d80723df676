"""Virtual environments of their own, for packages that the product and its tests must not need."""

import fcntl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.emulators.process import CannotRunError

CACHE = Path(__file__).parents[1] / ".cache"
_INSTALL_TIMEOUT_S = 300


def install_packages(pins_file: Path, name: str) -> Path:
    """Install a file of pins below .cache/`name`, unless installed; return the Python that has them.

    Raises CannotRunError.
    """
    folder = CACHE / name
    python, marker = folder / "bin/python", folder / "installed.txt"
    with _lock(folder):
        if marker.exists() and marker.read_text() == pins_file.read_text():
            return python
        print(f"keepsake: installing {pins_file.name} for {name}", file=sys.stderr)
        try:
            _run(sys.executable, "-m", "venv", "--clear", str(folder))
            _run(
                str(python), "-m", "pip", "install", "-qq", "--require-hashes", "-r", str(pins_file)
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failure:
            raise CannotRunError(f"{name} cannot be installed here: {failure}") from failure
        marker.write_text(pins_file.read_text())
    return python


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Let one process at a time install; the others wait for it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=_INSTALL_TIMEOUT_S)
