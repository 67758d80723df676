"""Real Terraform on both stacks, against providers that make nothing: validate, plan and apply (D1, F1)."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.local.routing import ROOT
from tests.infra.terraform.fake_provider import run_fake_provider
from tests.infra.terraform.stack import TERRAFORM, VARIABLES

TIMEOUT_S = 280
OVERRIDE = """
terraform {
  backend "local" { path = "STATE" }
}
"""
FOUNDATION_STATE = """
data "terraform_remote_state" "foundation" {
  backend = "local"
  config  = { path = "FOUNDATION" }
}
"""
OPTIONS: dict[str, dict[str, Any]] = {
    "foundation": {
        "sign_in_providers": ["password", "google.com"], "google_sign_in_client_id": "c", "google_sign_in_client_secret": "s",
        "sign_up": True, "app_check": "ENFORCED", "monthly_budget": 0,
    },
    "services": {
        "objectives": True, "canary": {"stable": "r0", "functions": ["chat"], "percent": 10}, "task_queues": 3,
        "settings": {"MODEL_AGENT": "m"}, "sizes": {"chat": {"max_instances": 5}},
    },
}  # fmt: skip
"""Every documented option at once, beside those that VARIABLES use."""


class Workshop:
    """Both stacks in a folder of their own, with states beside them."""

    def __init__(self, folder: Path, attached: str) -> None:
        self.folder = folder
        # Terraform spends a fifth of its time on collecting a heap that stays below 400 MB anyway.
        self._environment = {**os.environ, "TF_REATTACH_PROVIDERS": attached, "TF_IN_AUTOMATION": "1", "CHECKPOINT_DISABLE": "1", "GOGC": "400"}  # fmt: skip
        for name in ("infra/routes.json", "infra/firestore.indexes.json", "infra/firestore.rules", "infra/console_headers.json"):  # fmt: skip
            (folder / name).parent.mkdir(exist_ok=True, parents=True)
            (folder / name).symlink_to(ROOT / name)
        for name in VARIABLES:
            stack = folder / "infra/terraform" / name
            shutil.copytree(TERRAFORM / name, stack, ignore=shutil.ignore_patterns(".terraform*"))
            override = OVERRIDE + (FOUNDATION_STATE if name == "services" else "")
            override = override.replace("STATE", str(folder / f"{name}.tfstate"))
            override = override.replace("FOUNDATION", str(folder / "foundation.tfstate"))
            (stack / "override.tf").write_text(override)
            self.run(name, "init", "-input=false")

    def run(self, stack: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["terraform", arguments[0], "-no-color", *arguments[1:]],
            cwd=self.folder / "infra/terraform" / stack,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    def apply(self, stack: str, environment: str) -> str:
        """Apply on top of what is there; return the line that counts."""
        answer = self._run_on("apply", stack, environment, {}, "-auto-approve", "-parallelism=40")
        return str(re.findall(r"^Apply complete!.*$", answer, re.MULTILINE)[-1])

    def plan(self, stack: str, environment: str, **variables: Any) -> str:
        """Return the line that counts what would change."""
        answer = self._run_on("plan", stack, environment, variables)
        return str(re.findall(r"^(?:Plan: |No changes\.).*$", answer, re.MULTILINE)[-1])

    def _run_on(
        self, action: str, stack: str, environment: str, variables: dict[str, Any], *options: str
    ) -> str:
        path = self.folder / f"{stack}.tfvars.json"
        path.write_text(json.dumps({**VARIABLES[stack], **variables}))
        files = (f"-var-file={environment}.tfvars", f"-var-file={path}")
        answer = self.run(stack, action, "-input=false", *options, *files)
        assert answer.returncode == 0, answer.stderr[-4000:]
        return answer.stdout

    def read_outputs(self, stack: str) -> dict[str, Any]:
        answer = self.run(stack, "output", "-json")
        return {name: row["value"] for name, row in json.loads(answer.stdout).items()}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    if shutil.which("terraform") is None:
        pytest.skip("terraform is not installed")
    with run_fake_provider() as attached:
        yield Workshop(tmp_path_factory.mktemp("terraform"), attached)


@pytest.mark.timeout(3 * TIMEOUT_S)
def test_both_stacks_are_applied_once_and_every_option_is_planned_f1(workshop: Workshop) -> None:
    applied = [workshop.apply(stack, "staging") for stack in VARIABLES]
    again = [workshop.plan(stack, "staging") for stack in VARIABLES]
    changed = [workshop.plan(stack, "production", **OPTIONS[stack]) for stack in VARIABLES]

    print(applied, changed)  # noqa: T201 - shown with -s
    assert all(re.search(r" [1-9]\d\d added, 0 changed, 0 destroyed", line) for line in applied)
    assert all(line.startswith("No changes.") for line in again)
    assert all(re.search(r"[1-9]\d* to change", line) for line in changed)
    assert workshop.read_outputs("services")["api_address"] == "192.0.2.1"


def test_an_index_that_is_there_is_taken_over_f1(workshop: Workshop) -> None:
    index = json.loads((ROOT / "infra/firestore.indexes.json").read_text())["indexes"][0]
    key = json.dumps(index, separators=(",", ":"), sort_keys=True)
    (workshop.folder / "foundation.tfstate").unlink(missing_ok=True)

    line = workshop.plan("foundation", "staging", built_indexes={key: "projects/demo/…/indexes/1"})

    assert line.startswith("Plan: 1 to import")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ('resource "google_pubsub_topic" "x" {\n  name = "x"\n  nome = "y"\n}', "Unsupported argument"),
        ('resource "google_pubsub_topic" "x" {\n}', "Missing required argument"),
        ('resource "google_pubsub_topic" "x" {\n  name = "x"\n  labels = "y"\n}', "Incorrect attribute value type"),
        ('resource "google_pubsub_topic" "x" {\n  name = "x"\n  pages {\n  }\n}', "Unsupported block type"),
        ('output "x" {\n  value = google_pubsub_topic.event["t"].colour\n}', "Unsupported attribute"),
    ],
)  # fmt: skip
def test_what_the_providers_do_not_know_is_refused_d1(workshop: Workshop, fault: str, said: str) -> None:  # fmt: skip
    path = workshop.folder / "infra/terraform/services/fault.tf"
    path.write_text(fault)

    answer = workshop.run("services", "validate")
    path.unlink()

    assert answer.returncode == 1
    assert said in answer.stderr
