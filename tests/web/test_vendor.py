"""Vendored libraries: the published files, unchanged."""

import hashlib
from pathlib import Path

VENDOR_FOLDER = Path(__file__).parents[2] / "web/vendor"


def test_every_vendored_file_has_its_recorded_sum() -> None:
    lines = (VENDOR_FOLDER / "SHA256SUMS").read_text().splitlines()
    expected = {name: digest for digest, name in map(str.split, lines)}

    vendored = {path.name for path in VENDOR_FOLDER.iterdir()} - {
        "README.md",
        "SHA256SUMS",
        "update.sh",
    }
    actual = {
        name: hashlib.sha256((VENDOR_FOLDER / name).read_bytes()).hexdigest() for name in vendored
    }
    assert actual == expected
