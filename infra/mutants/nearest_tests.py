"""The tests that run a mutant's statement, nearest first: measured once, and again when a file has changed."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from coverage import CoverageData

from infra.mutants.draw import Mutant

CONFIG = Path(__file__).with_name("coverage.ini")
CACHE = ".cache/mutants"
TESTS = ("tests/shared", "tests/functions")
SOURCES = ("shared", "functions", "tests")
WITHOUT_SERVERS = "not emulators and not browser and not real_model"
MOST_TESTS = 300
FAILED = 1


class NearestTests:
    def __init__(self, root: Path, lines: CoverageData, failed: Collection[str]) -> None:
        self._root = root
        self._by_line = {
            Path(file).relative_to(root).as_posix(): {
                line: _read_tests(contexts) - {*failed}
                for line, contexts in lines.contexts_by_lineno(file).items()
            }
            for file in lines.measured_files()
        }
        self._lines_run = Counter(
            test for lines in self._by_line.values() for tests in lines.values() for test in tests
        )

    def find(self, mutant: Mutant) -> list[str]:
        """Return the tests that run its statement, then others of its file; first what runs the fewest other lines.

        The others may see what ran at import, or once for all: a cache is filled by one test alone.
        """
        tests_of = self._by_line.get(mutant.path, {})
        near = {test for line in mutant.run_lines or () for test in tests_of.get(line, ())}
        tests = self._find_importers(mutant.module).union(*tests_of.values())
        order = sorted(tests, key=lambda test: (test not in near, self._lines_run[test], test))
        return order[:MOST_TESTS]

    def _find_importers(self, module: str) -> set[str]:
        files = {test.partition("::")[0] for test in self._lines_run}
        text = f"from {module} import"
        importers = {file for file in files if text in (self._root / file).read_text()}
        return {test for test in self._lines_run if test.partition("::")[0] in importers}


def measure_tests(root: Path, folders: Sequence[str], *, processes: int) -> NearestTests:
    """Run all tests that need no server besides, unless they ran since any file changed."""
    cache = root / CACHE
    fingerprint = _fingerprint(root)
    if not (cache / fingerprint).exists():
        print("keepsake: measuring which test runs which line", file=sys.stderr)
        _run_all_tests(root, folders, processes)
        (cache / fingerprint).touch()
    lines = CoverageData(str(cache / "coverage"))
    lines.read()
    if not any(lines.measured_contexts()):
        raise SystemExit("keepsake: no test runs any of these folders")
    failed = cache / "pytest/v/cache/lastfailed"
    return NearestTests(root, lines, json.loads(failed.read_text()) if failed.exists() else ())


def _run_all_tests(root: Path, folders: Sequence[str], processes: int) -> None:
    """Run them by pytest-xdist, even in one process: pytest-cov names no test without it."""
    shutil.rmtree(root / CACHE, ignore_errors=True)
    measured = [f"--cov={folder}" for folder in folders]
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-n", str(processes), "-m", WITHOUT_SERVERS),
        *("-o", f"cache_dir={CACHE}/pytest", f"--cov-config={CONFIG}"),
        *("--cov-context=test", "--cov-report=", *measured, *TESTS),
    ]
    done = subprocess.run(command, cwd=root, stdout=sys.stderr, check=False)
    if done.returncode not in (0, FAILED):
        raise SystemExit(done.returncode)


def _fingerprint(root: Path) -> str:
    files = sorted(file for folder in SOURCES for file in (root / folder).rglob("*.py"))
    texts = [f"{file.relative_to(root)} {file.read_text()}" for file in files]
    return hashlib.sha256("".join(texts).encode()).hexdigest()


def _read_tests(contexts: Iterable[str]) -> set[str]:
    """Return the tests of contexts such as `tests/test_a.py::test_b|run`; what an import runs has none."""
    return {context.rpartition("|")[0] for context in contexts if context}
