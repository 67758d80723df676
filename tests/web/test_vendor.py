"""The vendored libraries are the published ones, unchanged."""

import hashlib
from pathlib import Path

VENDOR = Path(__file__).parents[2] / "web/vendor"


def test_every_vendored_file_has_its_recorded_sum() -> None:
    lines = (VENDOR / "SHA256SUMS").read_text().splitlines()
    recorded = {name: digest for digest, name in map(str.split, lines)}

    vendored = {path.name for path in VENDOR.iterdir()} - {"README.md", "SHA256SUMS", "update.sh"}
    found = {name: hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() for name in vendored}
    assert found == recorded
