"""Entry points of process_conversation, as its table names them."""

from functions.process_conversation.entry_points import ENTRY_POINTS
from functions.process_conversation.wiring import build_deps
from shared.startup import start

globals().update(start(ENTRY_POINTS, build_deps))
