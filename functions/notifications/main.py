"""Entry points of notifications, as its table names them."""

from functions.notifications.entry_points import ENTRY_POINTS
from functions.notifications.wiring import build_deps
from shared.startup import start

globals().update(start(ENTRY_POINTS, build_deps))
