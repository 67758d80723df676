"""Entry points of media, as its table names them."""

from functions.media.entry_points import ENTRY_POINTS
from functions.media.wiring import build_deps
from shared.startup import start

globals().update(start(ENTRY_POINTS, build_deps))
