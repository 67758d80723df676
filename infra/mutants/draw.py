"""Mutants: small changes of the product's code, drawn by a seed, that a good test should notice.

A place is one node of the code. Each draws its rank and its change by the seed, the file and its number in it, so that
the same seed draws the same mutants from two trees as long as a file stays equal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from heapq import nsmallest
from pathlib import Path
from random import Random

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators, operator_assignment

TYPES = m.Name("Literal") | m.Name("NewType") | m.Name("TypeVar") | m.Name("cast")
TYPE = m.Call(func=TYPES) | m.Subscript(value=TYPES)
LEFT_OUT = (
    m.Annotation()
    | m.Decorator()
    | TYPE
    | m.Assign(value=TYPE)
    | m.SimpleString(value=m.MatchRegex(r"(?s).*\s.*"))
)
"""What no test should look at: types, docstrings and texts, which have a space in them."""
OPERATORS = [row for row in mutation_operators if row[1] is not operator_assignment]
"""An assignment would become None, and mypy sees that before any test."""
NONE = m.Arg(value=m.Name("None"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    path: str
    line: int
    run_lines: range | None
    """The lines of its statement; None if they run when the module is imported."""
    source: str
    mutated: str

    @property
    def module(self) -> str:
        return self.path.removesuffix(".py").replace("/", ".")

    def show(self) -> str:
        lines = unified_diff(self.source.splitlines(), self.mutated.splitlines(), n=0, lineterm="")
        return "\n".join([f"{self.path}:{self.line}", *list(lines)[3:]])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    module: cst.Module
    node: cst.CSTNode
    changes: Sequence[cst.CSTNode]
    line: int
    run_lines: range | None


def draw_mutants(root: Path, folders: Sequence[str], count: int, *, seed: int) -> list[Mutant]:
    """Draw so many places of these folders of `root`, each as likely as any other, with one change for each."""
    drawn = nsmallest(count, _rank_places(root, folders, seed), key=lambda ranked: ranked[:3])
    return [_mutate(root, path, place, generator) for _, path, _, generator, place in drawn]


def _rank_places(
    root: Path, folders: Sequence[str], seed: int
) -> Iterator[tuple[float, str, int, Random, _Place]]:
    for file in sorted(file for folder in folders for file in (root / folder).rglob("*.py")):
        path = file.relative_to(root).as_posix()
        for number, place in enumerate(find_places(file.read_text())):
            generator = Random(f"{seed} {path} {number}")  # noqa: S311 - drawn by seed
            yield generator.random(), path, number, generator, place


def _mutate(root: Path, path: str, place: _Place, generator: Random) -> Mutant:
    mutated = place.module.deep_replace(place.node, generator.choice(place.changes))
    assert isinstance(mutated, cst.Module)
    return Mutant(
        path=path,
        line=place.line,
        run_lines=place.run_lines,
        source=(root / path).read_text(),
        mutated=mutated.code,
    )


def find_places(source: str) -> list[_Place]:
    wrapper = MetadataWrapper(cst.parse_module(source))
    finder = _PlaceFinder(wrapper.module)
    wrapper.visit(finder)
    return finder.places


class _PlaceFinder(cst.CSTVisitor):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, module: cst.Module) -> None:
        super().__init__()
        self.places: list[_Place] = []
        self._module = module
        self._statements: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if m.matches(node, LEFT_OUT):
            return False
        if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            self._statements.append(node)
        changes = [
            change
            for kind, list_changes in OPERATORS
            if isinstance(node, kind)
            for change in list_changes(node)
            if not _adds_none(node, change)
        ]
        if changes:
            self._add(node, changes)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if self._statements and original_node is self._statements[-1]:
            self._statements.pop()

    def _add(self, node: cst.CSTNode, changes: Sequence[cst.CSTNode]) -> None:
        *outer, statement = self._statements
        is_simple = isinstance(statement, cst.SimpleStatementLine)
        last = self._find_span(statement if is_simple else node).end.line
        run_lines = range(self._find_span(statement).start.line, last + 1)
        self.places.append(
            _Place(
                module=self._module,
                node=node,
                changes=changes,
                line=self._find_span(node).start.line,
                run_lines=run_lines if any(isinstance(o, cst.FunctionDef) for o in outer) else None,
            )
        )

    def _find_span(self, node: cst.CSTNode) -> cst.metadata.CodeRange:
        return self.get_metadata(PositionProvider, node)


def _adds_none(node: cst.CSTNode, change: cst.CSTNode) -> bool:
    """Whether an argument became None: mypy sees that, too."""
    if not isinstance(node, cst.Call) or not isinstance(change, cst.Call):
        return False
    return any(m.matches(arg, NONE) and arg not in node.args for arg in change.args)
