"""Entry point `library`: a user's conversations, memories, tasks and settings."""

from functions.process_conversation.late_routes import load_library_routes
from functions.process_conversation.library.first_routes import FIRST_ROUTES
from functions.process_conversation.wiring import library_deps, start
from shared.edge.declare.routes import LateRoutes
from shared.edge.serve.entry_point import serve
from shared.wiring import cors_origins

start("action_items", "conversations", "memories", "people", "profiles")

library = serve(
    "library",
    FIRST_ROUTES,
    library_deps,
    later=(LateRoutes(load=load_library_routes, build_deps=library_deps),),
    cors_origins=cors_origins,
)
