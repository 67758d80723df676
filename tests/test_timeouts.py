"""Timeouts of the suite itself: what hangs fails, and the run ends."""

import subprocess
import sys

from tests.conftest import ROOT


def test_a_teardown_that_never_ends_after_a_failure_is_an_error_and_the_run_goes_on() -> None:
    hanging = "tests/fixtures/endless_teardown.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=1"]

    run = subprocess.run(
        [*command, hanging], check=False, cwd=ROOT, capture_output=True, text=True, timeout=60
    )

    assert "1 failed, 1 passed, 1 error" in run.stdout
