"""Entry points of the library, as its table names them."""

from functions.library.entry_points import ENTRY_POINTS
from functions.library.wiring import build_deps
from shared.startup import start

globals().update(start(ENTRY_POINTS, build_deps))
