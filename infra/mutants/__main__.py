"""Mutants (`make mutants`): whether the tests notice a small change of the domain, of retrieval and of a chat's context.

Prints each mutant that survives, and the count. A survivor is a missing test, a change that nobody could notice, or one
that a test farther away notices: the 300 nearest are asked, and none that needs a server.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from infra.mutants.draw import Mutant, draw_mutants
from infra.mutants.nearest_tests import measure_tests

FOLDERS = ("shared/domain", "shared/retrieval", "functions/chat/context")
RUN_TESTS = Path(__file__).with_name("run_tests.py")
TIME_LIMIT_S = 120.0
Outcome = Literal["killed", "survived", "timed out"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("count", type=int, help="how many mutants to draw")
    parser.add_argument("--seed", type=int, default=1, help="the same seed draws the same mutants")
    parser.add_argument("--processes", type=int, default=2, help="how many mutants run at once")
    parser.add_argument("--root", type=Path, default=Path(), help="the tree, which is not changed")
    arguments = parser.parse_args()
    root = arguments.root.absolute()
    tests = measure_tests(root, FOLDERS, processes=arguments.processes)
    mutants = draw_mutants(root, FOLDERS, arguments.count, seed=arguments.seed)

    outcomes = Counter[Outcome]()
    with ThreadPoolExecutor(arguments.processes) as pool:
        runs = pool.map(lambda mutant: run_tests(root, mutant, tests.find(mutant)), mutants)
        for mutant, outcome in zip(mutants, runs, strict=True):
            outcomes[outcome] += 1
            if outcome != "killed":
                print(f"{outcome}: {mutant.show()}\n", flush=True)
    counts = [f"{outcomes[name]} {name}" for name in ("killed", "survived", "timed out")]
    print(", ".join([f"{len(mutants)} drawn", *counts]))


def run_tests(root: Path, mutant: Mutant, tests: Sequence[str]) -> Outcome:
    """Run these tests in a process of their own until one fails."""
    if not tests:
        return "survived"
    with tempfile.TemporaryDirectory() as folder:
        source, chosen = Path(folder, "mutant.py"), Path(folder, "tests")
        source.write_text(mutant.mutated)
        chosen.write_text("\n".join(tests))
        pytest = ["-x", "-n0", "-pno:cacheprovider", f"@{chosen}"]
        command = [sys.executable, "-P", str(RUN_TESTS), mutant.module, str(source), *pytest]
        process = subprocess.Popen(
            command,
            cwd=root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return "killed" if process.wait(TIME_LIMIT_S) else "survived"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "timed out"


if __name__ == "__main__":
    main()
