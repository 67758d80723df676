"""Steps of a deployment, from an empty project to a working address. Each may be repeated."""

import json
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from infra.deploy.firestore_indexes import find_built_indexes, wait_for_indexes
from infra.deploy.preflight import (
    Billing,
    check_project,
    check_readiness,
    check_source,
    find_local_problems,
)
from infra.deploy.releases import plan_canary
from infra.deploy.secrets import add_value, choose_missing_values
from infra.deploy.shell import Shell
from infra.deploy.stacks import Stack
from infra.deploy.target import ROOT, Target

FIRST_APIS = ("cloudbilling", "cloudresourcemanager", "iam", "serviceusage", "storage")
"""Without them Terraform can ask for nothing."""
ASKED_APIS = (
    "artifactregistry", "cloudbuild", "cloudkms", "cloudquotas", "cloudscheduler", "cloudtasks", "compute", "eventarc", "firebase",
    "firebaseappcheck", "firestore", "orgpolicy", "run",
)  # fmt: skip
"""Without them nobody says what would refuse a deployment."""
METRIC_POLL_S, MAX_METRIC_POLLS = 60, 20
SMOKE_TEST = (sys.executable, "-m", "infra.deploy.smoke_test")


def deploy(
    shell: Shell,
    target: Target,
    environment: Mapping[str, str],
    *,
    now: datetime,
    canary: int | None,
) -> dict[str, Any]:
    """Bring the committed source to the target, and return the outputs of the services. Raises DeployError."""
    billing, commit = prepare(shell, target)
    foundation = lay_foundation(shell, target, billing)
    values = choose_missing_values(shell, target, foundation["secrets"], environment)
    # A stored key is never asked for again: one that Pinecone refuses must not be.
    hosts = ensure_indexes(shell, target, environment)
    for name, value in values.items():
        add_value(shell, target, name, value)
    image = build_image(shell, target, foundation, commit)
    wait_for_indexes(shell, target)
    services = Stack(shell, target, "services")
    services.initialise()
    deployed = services.read_outputs({})
    variables = {
        "project": target.project,
        "state_bucket": target.state_bucket,
        "image": image,
        "release": name_release(now),
        "canary": plan_canary(shell, target, deployed, canary),
        "pinecone_sparse_host": hosts["sparse"],
        "pinecone_dense_host": hosts["dense"],
        "objectives": deployed.get("objectives", False),
    }
    services.apply(variables)
    if not variables["objectives"] and await_metrics(shell, target):
        add_objectives(services, variables)
    return services.read_outputs(
        {"origin": "https://DOMAIN", "api_address": "ADDRESS", "objectives": True}
    )


def prepare(shell: Shell, target: Target) -> tuple[Billing, str]:
    """Check what can be checked, switch on the first APIs, and make the bucket of the state."""
    for problem in find_local_problems(shell, target):
        shell.refuse(problem)
    commit = check_source(shell)
    billing = check_project(shell, target)
    apis = [f"{name}.googleapis.com" for name in FIRST_APIS + ASKED_APIS]
    shell.run("gcloud", "services", "enable", *apis, f"--project={target.project}")
    check_readiness(shell, target, billing)
    ensure_state_bucket(shell, target)
    return billing, commit


def ensure_state_bucket(shell: Shell, target: Target) -> None:
    """Make the bucket of Terraform's state, which keeps older versions of it."""
    bucket, project = f"gs://{target.state_bucket}", f"--project={target.project}"
    if not shell.succeeds("gcloud", "storage", "buckets", "describe", bucket, project):
        shell.run(
            "gcloud", "storage", "buckets", "create", bucket, project, f"--location={target.region}",
            "--uniform-bucket-level-access", "--public-access-prevention",
        )  # fmt: skip
    shell.run("gcloud", "storage", "buckets", "update", bucket, project, "--versioning")


def lay_foundation(shell: Shell, target: Target, billing: Billing) -> dict[str, Any]:
    foundation = Stack(shell, target, "foundation")
    foundation.initialise()
    check_place(shell, target, foundation.read_outputs({}))
    foundation.apply(
        {
            "project": target.project,
            "project_number": billing.project_number,
            "billing_account": billing.account,
            "region": target.region,
            "firestore_location": target.firestore_location,
            "built_indexes": find_built_indexes(shell, target),
        }
    )
    return foundation.read_outputs(
        {
            "secrets": ["OPENAI_API_KEY", "PINECONE_API_KEY"],
            "image_repository": f"{target.region}-docker.pkg.dev/{target.project}/keepsake",
            "build_account": "BUILD_ACCOUNT",
            "builds_bucket": f"{target.project}-keepsake-builds",
        }
    )


def await_metrics(shell: Shell, target: Target) -> bool:
    """Tell whether Google knows the metrics of the objectives within twenty minutes; a rehearsal assumes so."""
    for _ in range(MAX_METRIC_POLLS):
        if shell.succeeds(sys.executable, "-m", "infra.deploy.metrics", target.project):
            return True
        if not shell.wait(METRIC_POLL_S, "Google does not know the metrics of the objectives yet"):
            return True
    return False


def add_objectives(services: Stack, variables: Mapping[str, Any]) -> None:
    """Make the objectives, unless another deployment came meanwhile, which this one would take back."""
    release = variables["release"]
    if services.read_outputs({"release": release})["release"] == release:
        services.apply({**variables, "objectives": True})


def try_address(shell: Shell, origin: str, address: str) -> str:
    """Ask the deployment from outside where its name leads to it; say how that stands. Raises DeployError."""
    host = origin.removeprefix("https://")
    if shell.succeeds(sys.executable, "-m", "infra.deploy.domain", host, address):
        shell.run(*SMOKE_TEST, origin)
        return f"{origin} is deployed."
    return (
        f"{origin} is deployed, but its name does not lead to it yet. Set this record where the domain's DNS is kept:\n\n"
        f"    {host}.  A  {address}\n\n"
        "Google then needs up to an hour for the certificate. `make smoke-test` tells when all is well."
    )


def check_place(shell: Shell, target: Target, outputs: Mapping[str, Any]) -> None:
    """Refuse another place than that of the data, which cannot be moved."""
    wanted = {"REGION": target.region, "FIRESTORE_LOCATION": target.firestore_location}
    stored = {
        "REGION": outputs.get("region"),
        "FIRESTORE_LOCATION": outputs.get("firestore_location"),
    }
    for name, place in stored.items():
        if place not in (None, wanted[name]):
            shell.refuse(
                f"The data of {target.project} is in {place}, and cannot be moved: say {name}={place}."
            )


def ensure_indexes(shell: Shell, target: Target, environment: Mapping[str, str]) -> dict[str, str]:
    """Make Pinecone's indexes near the functions; its key comes from the environment or from its secret."""
    region = environment.get("PINECONE_REGION") or (
        "europe-west4" if target.region.startswith("europe-") else "us-central1"
    )
    printed = shell.read(
        sys.executable, "-m", "infra.deploy.pinecone_indexes", "--region", region, "--project", target.project,
        rehearsed=json.dumps({"sparse": "SPARSE_HOST", "dense": "DENSE_HOST"}),
    )  # fmt: skip
    hosts: dict[str, str] = json.loads(printed)
    return hosts


def build_image(shell: Shell, target: Target, foundation: Mapping[str, Any], commit: str) -> str:
    """Build the image of a commit, unless it is there, and return its name by digest."""
    image = f"{foundation['image_repository']}/functions"
    project = f"--project={target.project}"
    describe = ("gcloud", "artifacts", "docker", "images", "describe", f"{image}:{commit}", project)
    if not shell.succeeds(*describe):
        shell.run(
            "gcloud", "builds", "submit", str(ROOT), project, f"--region={target.region}",
            f"--config={ROOT / 'infra/deploy/cloudbuild.yaml'}", "--ignore-file=infra/deploy/image.gcloudignore",
            f"--service-account={foundation['build_account']}",
            f"--gcs-source-staging-dir=gs://{foundation['builds_bucket']}/source", f"--substitutions=_IMAGE={image}:{commit}",
        )  # fmt: skip
    digest = shell.read(
        *describe, "--format=value(image_summary.digest)", rehearsed="sha256:DIGEST"
    )
    return f"{image}@{digest}"


def name_release(now: datetime) -> str:
    """Name a release by its time: settings may change while the image stays."""
    return f"r{now:%Y%m%dt%H%M%S}"


def destroy(shell: Shell, target: Target) -> None:
    """Take the functions away, and all that leads to them; data, keys and images stay."""
    services = Stack(shell, target, "services")
    services.initialise()
    outputs = services.read_outputs({"release": "r0"})
    if "release" not in outputs:
        return
    services.destroy(
        {
            "project": target.project,
            "state_bucket": target.state_bucket,
            "image": outputs.get("image", f"none@sha256:{'0' * 64}"),
            "release": outputs["release"],
            "pinecone_sparse_host": "none",
        }
    )
