"""Rooms: what one function alone uses stands in its folder, and not in shared."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEPT = (
    "shared.adapters", "shared.data", "shared.domain", "shared.environment", "shared.languages",
    "shared.prompts", "shared.worlds", "shared.edge.serve",
)  # fmt: skip
"""What has its place by its kind, whoever uses it."""
KEPT_MODULES = {"shared.ports", "shared.settings"}
"""Pages on which everything of their kind stands."""


def list_modules() -> dict[str, Path]:
    files = [*(ROOT / "functions").rglob("*.py"), *(ROOT / "shared").rglob("*.py")]
    return {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in files}


def list_imports(file: Path, modules: dict[str, Path]) -> set[str]:
    imported = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            imported |= names & modules.keys() or {node.module}
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
    return imported & modules.keys()


def test_what_one_function_alone_uses_stands_in_it() -> None:
    modules = list_modules()
    users = defaultdict[str, set[str]](set)
    for module, file in modules.items():
        for imported in list_imports(file, modules):
            users[imported].add(module)

    homes: dict[str, str] = {}
    for _ in range(10):  # a module that moves takes along what it alone uses
        for module in modules.keys() - homes.keys() - KEPT_MODULES:
            if not module.startswith("shared.") or module.startswith(KEPT):
                continue
            rooms = {homes.get(user) or find_room(user) for user in users[module]}
            if len(rooms) == 1 and rooms != {"shared"}:
                homes[module] = rooms.pop()

    assert homes == {}


def find_room(module: str) -> str:
    """Return the function that a module belongs to, or shared."""
    first, second = module.split(".")[:2]
    return f"functions/{second}" if first == "functions" else first
