"""Application of live sound for uvicorn: functions-framework carries no sockets."""

from functions.media.entry_points import LISTEN
from functions.media.wiring import build_deps
from shared.startup import SocketApplication

app = SocketApplication(LISTEN, build_deps)
