"""A run of pytest in which one module is a mutant, while its file stays as it is.

Started as a process of its own: `run_tests.py MODULE FILE_OF_THE_MUTANT ARGUMENTS_OF_PYTEST…`
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

import pytest


class _MutantLoader(SourceFileLoader):
    def __init__(self, name: str, path: str, mutant: str) -> None:
        super().__init__(name, path)
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        """Compile the mutant at every import: neither its file nor its bytecode is read or written."""
        return compile(self._mutant, self.path, "exec", dont_inherit=True)


class _MutantFinder(MetaPathFinder):
    def __init__(self, name: str, mutant: str) -> None:
        self._name = name
        self._mutant = mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        file = str(Path(*fullname.split(".")).with_suffix(".py").absolute())
        return spec_from_file_location(
            fullname, file, loader=_MutantLoader(fullname, file, self._mutant)
        )


if __name__ == "__main__":
    module, mutant_file, *arguments = sys.argv[1:]
    sys.meta_path.insert(0, _MutantFinder(module, Path(mutant_file).read_text()))
    sys.exit(pytest.main(arguments))
