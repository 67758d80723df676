"""Other people's agent loops, in a virtual environment of their own: the product needs none of them."""

import subprocess
import sys
from pathlib import Path

from infra.bench.processes import ROOT

PINS = ROOT / "infra/bench/frameworks.txt"
VENV = ROOT / ".cache/frameworks"
PYTHON = VENV / "bin/python"
_INSTALL_S = 300


def frameworks_python() -> Path | None:
    """Install what frameworks.txt pins, once; None, and why on the console, where that fails."""
    installed = VENV / "installed.txt"
    if installed.exists() and installed.read_text() == PINS.read_text():
        return PYTHON
    print(f"keepsake: installing {PINS.name} (about a minute)", file=sys.stderr)
    try:
        _run(sys.executable, "-m", "venv", "--clear", str(VENV))
        _run(str(PYTHON), "-m", "pip", "install", "-qq", "--require-hashes", "-r", str(PINS))
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failure:
        print(f"keepsake: {PINS.name} cannot be installed here: {failure}", file=sys.stderr)
        return None
    installed.write_text(PINS.read_text())
    return PYTHON


def _run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=_INSTALL_S)
