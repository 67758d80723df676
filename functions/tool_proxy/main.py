"""Entry points of the tool proxy, as its table names them."""

from functions.tool_proxy.entry_points import ENTRY_POINTS
from functions.tool_proxy.wiring import build_deps
from shared.startup import start

globals().update(start(ENTRY_POINTS, build_deps))
