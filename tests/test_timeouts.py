"""Timeouts of the suite itself: what hangs fails, and the run ends."""

import subprocess
import sys

from tests.conftest import ROOT


def run_tests(name: str, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    return subprocess.run(
        [*command, f"tests/fixtures/{name}.py"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout


def test_a_teardown_that_never_ends_after_a_failure_is_an_error_and_the_run_goes_on() -> None:
    assert "1 failed, 1 passed, 1 error" in run_tests("endless_teardown", "--timeout=1")


def test_whoever_debugs_without_a_timeout_has_none_in_a_teardown() -> None:
    assert "1 passed in" in run_tests("untimed_teardown", "--timeout=0")
