"""Entry points of imports: the steps of one that runs; its owner's routes are the library's."""

from shared.edge.declare.entry_points import EntryPoint
from shared.library.deps import ImportDeps

ENTRY_POINTS = (
    EntryPoint(
        name="import_files",
        deps=ImportDeps,
        routes=("functions.imports.import_routes:IMPORT_FILES_ROUTES",),
    ),
)
