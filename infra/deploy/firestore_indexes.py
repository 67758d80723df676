"""Indexes of Firestore, which are built for longer than one apply may take: those that are there, and the wait for all."""

import json
from typing import Any

from infra.deploy.failures import DeployError
from infra.deploy.shell import Shell
from infra.deploy.target import ROOT, Target

INDEX_FILE = ROOT / "infra/firestore.indexes.json"
POLL_S, MAX_POLLS = 30, 240
"""Two hours in all."""


def find_built_indexes(shell: Shell, target: Target) -> dict[str, str]:
    """Return the indexes of the file that Firestore has: key of Terraform → name. None before there is a database.

    An apply that ended while it waited leaves them behind, unknown to its state.
    """
    try:
        listed = shell.read(
            "gcloud", "firestore", "indexes", "composite", "list", f"--project={target.project}", "--format=json", rehearsed="[]"
        )  # fmt: skip
    except DeployError:
        return {}
    names = {_write_key(_read_index(index)): index["name"] for index in json.loads(listed)}
    wanted = map(_write_key, json.loads(INDEX_FILE.read_text())["indexes"])
    return {key: names[key] for key in wanted if key in names}


def wait_for_indexes(shell: Shell, target: Target) -> None:
    """Wait until no index or field is being built. Raises DeployError after two hours."""
    for _ in range(MAX_POLLS):
        listed = shell.read(
            "gcloud", "firestore", "operations", "list", f"--project={target.project}", "--limit=1000",
            "--format=value(name,done)", rehearsed="",
        )  # fmt: skip
        building = [line for line in listed.splitlines() if not line.endswith("True")]
        if not building:
            return
        shell.wait(POLL_S, f"Firestore still builds {len(building)} indexes and fields")
    shell.refuse(
        f"After two hours Firestore still builds {len(building)} indexes and fields. Run the same command again: it goes on waiting."
    )


def _read_index(index: dict[str, Any]) -> dict[str, Any]:
    """Write an index as the file has it: Firestore adds the name of the document at its end."""
    fields = [field for field in index["fields"] if field["fieldPath"] != "__name__"]
    group = index["name"].partition("/collectionGroups/")[2].partition("/")[0]
    return {"collectionGroup": group, "queryScope": index["queryScope"], "fields": fields}


def _write_key(index: dict[str, Any]) -> str:
    """Write an index as Terraform's jsonencode does."""
    return json.dumps(index, separators=(",", ":"), sort_keys=True)
