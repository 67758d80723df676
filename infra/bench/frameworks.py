"""Other agent frameworks, in a virtual environment of their own: the product needs none of them."""

import subprocess
import sys
from pathlib import Path

from infra.bench.processes import ROOT

PINS_FILE = ROOT / "infra/bench/frameworks.txt"
VENV = ROOT / ".cache/frameworks"
PYTHON = VENV / "bin/python"
_INSTALL_TIMEOUT_S = 300


def install_frameworks() -> Path | None:
    """Install frameworks.txt once; print the reason and return None where that fails."""
    marker = VENV / "installed.txt"
    if marker.exists() and marker.read_text() == PINS_FILE.read_text():
        return PYTHON
    print(f"keepsake: installing {PINS_FILE.name} (about a minute)", file=sys.stderr)
    try:
        _run(sys.executable, "-m", "venv", "--clear", str(VENV))
        _run(str(PYTHON), "-m", "pip", "install", "-qq", "--require-hashes", "-r", str(PINS_FILE))
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failure:
        print(f"keepsake: {PINS_FILE.name} cannot be installed here: {failure}", file=sys.stderr)
        return None
    marker.write_text(PINS_FILE.read_text())
    return PYTHON


def _run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=_INSTALL_TIMEOUT_S)
