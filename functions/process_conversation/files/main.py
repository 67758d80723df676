"""Entry points of files: one takes them in and gives them out, one reads them."""

from functions.process_conversation.files.file_routes import READ_ROUTES, ROUTES
from functions.process_conversation.wiring import file_deps, start
from shared.edge.serve.entry_point import serve
from shared.wiring import cors_origins

start()

files = serve("files", ROUTES, file_deps, cors_origins=cors_origins)
read_file = serve("read_file", READ_ROUTES, file_deps)
