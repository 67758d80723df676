"""Entry points of the library: its owner's, those of programs and apps, and the end of an account."""

from functions.library.deps import AppRequestDeps, EraseDeps
from functions.library.programs.oauth.deps import ProgramDeps
from shared.edge.declare.entry_points import EntryPoint
from shared.library.deps import LibraryDeps

ENTRY_POINTS = (
    EntryPoint(
        name="library",
        deps=LibraryDeps,
        first="functions.library.first_routes:FIRST_ROUTES",
        routes=("functions.library.routes:LIBRARY_ROUTES",),
        stores=("action_items", "conversations", "memories", "people", "profiles"),
        serves_pages=True,
    ),
    EntryPoint(
        name="mcp",
        deps=ProgramDeps,
        first="functions.library.programs.mcp_server.routes:MCP_ROUTES",
        first_deps=LibraryDeps,
        routes=("functions.library.programs.oauth.routes:OAUTH_ROUTES",),
        serves_pages=True,
    ),
    EntryPoint(
        name="integrations",
        deps=AppRequestDeps,
        routes=("functions.library.programs.integrations.integration_routes:ROUTES",),
    ),
    EntryPoint(
        name="erase_account",
        deps=EraseDeps,
        routes=("functions.library.account.account:ERASE_ROUTES",),
    ),
)
