"""Releases of the functions: what serves now, what a canary shares with it, and the way back."""

from collections.abc import Mapping
from typing import Any

from infra.deploy.failures import DeployError
from infra.deploy.shell import Shell
from infra.deploy.stacks import Stack
from infra.deploy.target import Target

NEEDED_VARIABLES = ("image", "release", "pinecone_sparse_host")
KEPT_VARIABLES = (*NEEDED_VARIABLES, "pinecone_dense_host", "objectives")
"""Variables of the services that a change of traffic leaves as they are; the state knows them, an older one not all."""


def plan_canary(
    shell: Shell, target: Target, outputs: Mapping[str, Any], percent: int | None
) -> dict[str, Any] | None:
    """Let a new release share with the one that serves now; without a percentage, or the first time, it gets all.

    Raises DeployError where the state does not tell what serves now, or not every function serves it.
    """
    if percent is None or "release" not in outputs:
        return None
    serving = outputs.get("canary")
    if serving:
        return {**serving, "percent": percent}
    if "functions" not in outputs:
        raise DeployError(
            f"The state of {outputs['release']} is older, and does not tell its functions: deploy without a canary."
        )
    stable, functions = outputs["release"], outputs["functions"]
    # Terraform writes all outputs of a release that failed, as if each function had it.
    if missing := sorted({*functions} - {*_list_serving(shell, target, stable)}):
        raise DeployError(
            f"The release {stable} came half-way: {', '.join(missing)} did not get it. Run `make deploy` without CANARY, or"
            " `make rollback` to a whole release, first."
        )
    return {"stable": stable, "functions": functions, "percent": percent}


def promote(services: Stack, state_bucket: str, project: str) -> None:
    """Give the new release everything. Raises DeployError while there is no canary."""
    outputs = _read_release(services)
    if not outputs.get("canary"):
        raise DeployError(
            f"{outputs['release']} has all requests already: there is no canary to promote."
        )
    services.apply(
        {**_keep(outputs), "project": project, "state_bucket": state_bucket, "canary": None}
    )


def roll_back(shell: Shell, services: Stack, target: Target, release: str | None) -> str:
    """Give everything to an older release, and return its name. Raises DeployError."""
    outputs = _read_release(services)
    canary = outputs.get("canary") or {}
    stable = release or canary.get("stable")
    if stable is None:
        raise DeployError(
            "Say to which release: make rollback RELEASE=r…. `gcloud run revisions list --service=chat"
            f" --project={target.project} --region={target.region}` lists them."
        )
    functions = _list_functions(shell, target, stable)
    if not functions:
        raise DeployError(f"No function has the release {stable!r} any more.")
    share = {"stable": stable, "functions": functions, "percent": 0}
    services.apply(
        {
            **_keep(outputs),
            "project": target.project,
            "state_bucket": target.state_bucket,
            "canary": share,
        }
    )
    return str(stable)


def _read_release(services: Stack) -> dict[str, Any]:
    rehearsed = {
        **dict.fromkeys(KEPT_VARIABLES, "AS_IT_IS"),
        "canary": {"stable": "RELEASE_BEFORE", "functions": ["chat"], "percent": 10},
    }
    outputs = services.read_outputs(rehearsed)
    if "release" not in outputs:
        raise DeployError("Nothing is deployed here yet: run `make deploy` first.")
    missing = [name for name in NEEDED_VARIABLES if name not in outputs]
    if missing:
        raise DeployError(
            f"The state of {outputs['release']} is older, and does not tell {' and '.join(missing)}: `make deploy` the"
            " release that you want from its commit."
        )
    return outputs


def _keep(outputs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: outputs[name] for name in KEPT_VARIABLES if name in outputs}


def _list_functions(shell: Shell, target: Target, release: str) -> list[str]:
    """List the functions that have a revision of the release: those that came later have none."""
    return _find_functions(shell, target, "revisions", "metadata.name", release)


def _list_serving(shell: Shell, target: Target, release: str) -> list[str]:
    """List the functions whose newest revision that started is of the release."""
    return _find_functions(shell, target, "services", "status.latestReadyRevisionName", release)


def _find_functions(
    shell: Shell, target: Target, resource: str, field: str, release: str
) -> list[str]:
    """List the functions in whose row of Cloud Run a field names a revision of the release."""
    listed = shell.read(
        "gcloud", "run", resource, "list", f"--project={target.project}", f"--region={target.region}",
        f"--format=value({field})", rehearsed=f"chat-{release}",
    )  # fmt: skip
    suffix = f"-{release}"
    return sorted(
        name.removesuffix(suffix).replace("-", "_")
        for name in listed.split()
        if name.endswith(suffix)
    )
