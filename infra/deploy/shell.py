"""Commands of a deployment: run on this machine, or printed where a rehearsal is wanted."""

import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Protocol

from infra.deploy.failures import DeployError, explain_failure


class Shell(Protocol):
    """Runs commands. In a rehearsal nothing runs, and `rehearsed` stands for what would be read."""

    def run(self, *command: str, stdin: str | None = None) -> None:
        """Run a command that changes something. Raises DeployError."""

    def read(self, *command: str, rehearsed: str) -> str:
        """Return what a command prints. Raises DeployError."""

    def succeeds(self, *command: str) -> bool:
        """Tell whether a command ends well; a rehearsal assumes an empty project: no."""

    def has(self, program: str) -> bool:
        """Tell whether this machine has a program."""

    def wait(self, seconds: float, reason: str) -> bool:
        """Let time pass, and say why. Returns whether it did: in a rehearsal none passes."""

    def refuse(self, problem: str) -> None:
        """Stop at a problem by DeployError; a rehearsal names it and goes on."""


class Terminal:
    """Runs commands; `environment` is what they see."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def run(self, *command: str, stdin: str | None = None) -> None:
        _print_command(command)
        # Terraform and builds tell for minutes what they do: their output is shown as it comes.
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self._environment,
        ) as process:
            if process.stdin is not None:
                process.stdin.write(stdin or "")
                process.stdin.close()
            output = _show(process)
        if process.returncode:
            raise DeployError(explain_failure(command, output))

    def read(self, *command: str, rehearsed: str) -> str:
        answer = self._call(command)
        if answer.returncode:
            raise DeployError(explain_failure(command, answer.stdout + answer.stderr))
        return answer.stdout.strip()

    def succeeds(self, *command: str) -> bool:
        return self._call(command).returncode == 0

    def has(self, program: str) -> bool:
        return shutil.which(program) is not None

    def wait(self, seconds: float, reason: str) -> bool:
        sys.stdout.write(f"keepsake: {reason}; waiting.\n")
        sys.stdout.flush()
        time.sleep(seconds)
        return True

    def refuse(self, problem: str) -> None:
        raise DeployError(problem)

    def _call(self, command: tuple[str, ...]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=self._environment
        )


class Rehearsal:
    """Prints each command, and runs none; a command that reads is marked by a question mark."""

    def run(self, *command: str, stdin: str | None = None) -> None:
        _print_command(command, suffix="" if stdin is None else " < (a secret)")

    def read(self, *command: str, rehearsed: str) -> str:
        _print_command(command, sign="?")
        return rehearsed

    def succeeds(self, *command: str) -> bool:
        _print_command(command, sign="?")
        return False

    def has(self, program: str) -> bool:
        return shutil.which(program) is not None

    def wait(self, seconds: float, reason: str) -> bool:
        return False

    def refuse(self, problem: str) -> None:
        sys.stdout.write(f"! {problem}\n")


def _print_command(command: tuple[str, ...], *, sign: str = "$", suffix: str = "") -> None:
    sys.stdout.write(f"{sign} {shlex.join(command)}{suffix}\n")
    sys.stdout.flush()


def _show(process: "subprocess.Popen[str]") -> str:
    lines = []
    for line in process.stdout or ():
        sys.stdout.write(line)
        sys.stdout.flush()
        lines.append(line)
    return "".join(lines)
