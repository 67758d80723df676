"""Entry points of chat, as its table names them."""

from functions.chat.entry_points import ENTRY_POINTS
from functions.chat.wiring import build_deps
from shared.startup import start

globals().update(start(ENTRY_POINTS, build_deps))
