"""Terraform's two stacks as commands: each is initialised, applied and read by the same arguments every time."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from infra.deploy.shell import Shell
from infra.deploy.target import TERRAFORM, Target

StackName = Literal["foundation", "services"]


class Stack:
    """One stack of a target, by its state in the target's bucket."""

    def __init__(self, shell: Shell, target: Target, name: StackName) -> None:
        self._shell = shell
        self._target = target
        self._name = name

    def initialise(self) -> None:
        self._terraform(
            "init",
            "-input=false",
            "-reconfigure",
            f"-backend-config=bucket={self._target.state_bucket}",
        )

    def apply(self, variables: Mapping[str, Any]) -> None:
        self._terraform("apply", "-input=false", "-auto-approve", *self._list_arguments(variables))

    def destroy(self, variables: Mapping[str, Any]) -> None:
        self._terraform(
            "destroy", "-input=false", "-auto-approve", *self._list_arguments(variables)
        )

    def read_outputs(self, rehearsed: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outputs by name; none before the first apply."""
        text = self._shell.read(
            *self._command,
            "output",
            "-json",
            rehearsed=json.dumps({k: {"value": v} for k, v in rehearsed.items()}),
        )
        return {name: output["value"] for name, output in json.loads(text or "{}").items()}

    @property
    def _command(self) -> tuple[str, str]:
        return "terraform", f"-chdir={TERRAFORM / self._name}"

    def _terraform(self, *arguments: str) -> None:
        self._shell.run(*self._command, *arguments)

    def _list_arguments(self, variables: Mapping[str, Any]) -> list[str]:
        return [
            f"-var-file={self._target.environment}.tfvars",
            *(f"-var={name}={_write(value)}" for name, value in variables.items()),
        ]


def _write(value: Any) -> str:
    """Write a value as Terraform reads it from its command line: texts as they are, others as JSON."""
    return value if isinstance(value, str) else json.dumps(value)
