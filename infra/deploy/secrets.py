"""Secrets of a deployment: values that somebody brings, and keys that are made once and that nobody reads."""

import secrets
from collections.abc import Mapping, Sequence

from infra.deploy.shell import Shell
from infra.deploy.target import Target

MADE_HERE = ("DISCONNECT_KEYS", "PSEUDONYM_KEY", "TOOL_CALL_KEYS", "WEB_PUSH_KEY")
KEY_BYTES = 48


def choose_missing_values(
    shell: Shell,
    target: Target,
    names: Sequence[str],
    environment: Mapping[str, str],
) -> dict[str, str]:
    """Return a value for each secret that has none. Raises DeployError, which names all that nobody brought."""
    values = {
        name: secrets.token_urlsafe(KEY_BYTES) if name in MADE_HERE else environment.get(name, "")
        for name in names
        if not _has_value(shell, target, name)
    }
    forgotten = [name for name, value in values.items() if not value]
    if forgotten:
        shell.refuse(
            f"{', '.join(forgotten)}: no value is stored. Set each in the environment and run the same command again;"
            " it is stored in Secret Manager, and needed no more after that."
        )
    return values


def _has_value(shell: Shell, target: Target, name: str) -> bool:
    return shell.succeeds(
        "gcloud", "secrets", "versions", "describe", "latest", f"--secret={name}", f"--project={target.project}"
    )  # fmt: skip


def add_value(shell: Shell, target: Target, name: str, value: str) -> None:
    shell.run(
        "gcloud", "secrets", "versions", "add", name, "--data-file=-", f"--project={target.project}", stdin=value
    )  # fmt: skip
