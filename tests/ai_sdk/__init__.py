"""Streams as a web client reads them: the official `ai` package, run by Node.js."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from infra.emulators.node import find_command, install_packages
from infra.emulators.process import CannotRunError

HERE = Path(__file__).parent
MAJOR_VERSIONS = ("5", "6", "7")
"""The package's versions that speak version 1 of the stream."""
TIMEOUT_S = 60


def run_client(major: str, mode: str, origin: str, *, token: str = "", argument: str = "") -> Any:
    """Run read.mjs; skip where there is no Node.js, unless REQUIRE_ALL=1 says that there must be."""
    try:
        folder, node = install_packages(HERE, "ai-sdk"), find_command("node")
    except CannotRunError as error:
        if os.environ.get("REQUIRE_ALL") == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))
    process = subprocess.run(
        [node, "--input-type=module", "-", major, mode, origin, token, argument],
        cwd=folder,
        input=(HERE / "read.mjs").read_bytes(),
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert process.returncode == 0, process.stderr.decode()
    return json.loads(process.stdout)
