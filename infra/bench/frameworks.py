"""Other agent frameworks, in a virtual environment of their own: the product needs none of them."""

import sys
from pathlib import Path

from infra.bench.processes import ROOT
from infra.emulators.process import CannotRunError
from infra.virtual_environment import install_packages

PINS_FILE = ROOT / "infra/bench/frameworks.txt"


def install_frameworks() -> Path | None:
    """Install frameworks.txt once; print the reason and return None where that fails."""
    try:
        return install_packages(PINS_FILE, "frameworks")
    except CannotRunError as error:
        print(f"keepsake: {error}", file=sys.stderr)
        return None
