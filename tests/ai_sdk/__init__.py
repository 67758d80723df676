"""What a web client makes of our streams: the official `ai` package, run by Node.js."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from infra.emulators.node import found, installed
from infra.emulators.process import CannotRunError

HERE = Path(__file__).parent
MAJORS = ("5", "6", "7")
"""The package's versions that speak version 1 of the stream."""
LIMIT_S = 60


def read(major: str, how: str, origin: str, *, token: str = "", argument: str = "") -> Any:
    """Run read.mjs; skip where there is no Node.js, unless REQUIRE_ALL=1 says that there must be."""
    try:
        folder, node = installed(HERE, "ai-sdk"), found("node")
    except CannotRunError as missing:
        if os.environ.get("REQUIRE_ALL") == "1":
            pytest.fail(str(missing))
        pytest.skip(str(missing))
    ended = subprocess.run(
        [node, "--input-type=module", "-", major, how, origin, token, argument],
        cwd=folder,
        input=(HERE / "read.mjs").read_bytes(),
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()
    return json.loads(ended.stdout)
