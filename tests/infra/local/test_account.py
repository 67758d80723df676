"""Commands of an account, as a person runs them in a terminal."""

import subprocess
import sys


def test_an_erasure_that_nobody_can_confirm_erases_nothing_s6() -> None:
    command = [sys.executable, "-m", "infra.local.account", "erase", "--uid", "alice"]

    result = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )

    assert result.returncode == 1
    assert result.stdout.splitlines()[-1] == "keepsake: nothing was erased"
    assert result.stderr == ""
