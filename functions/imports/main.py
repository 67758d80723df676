"""Entry points of imports, as its table names them."""

from functions.imports.entry_points import ENTRY_POINTS
from functions.imports.wiring import build_deps
from shared.startup import start

globals().update(start(ENTRY_POINTS, build_deps))
