"""Commands of a deployment as `make` calls them: each can be rehearsed, and says what it lacks (D1, D2)."""

import subprocess
import sys

import pytest

from infra.local.routing import ROOT

PLACE = ("--project", "demo", "--region", "europe-west1")


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "infra.deploy", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("deploy",), "gcloud builds submit"),
        (("deploy",), "-var=objectives=true"),
        (("deploy", "--canary", "10"), "The new release gets 10 % of the requests"),
        (("promote",), "-var=canary=null"),
        (("rollback",), "RELEASE_BEFORE has all requests again."),
        (("rollback", "--release", "r1"), "r1 has all requests again."),
        (("smoke-test",), "infra.deploy.smoke_test https://staging.keepsake.example.org"),
        (("destroy",), "services destroy -input=false"),
        (("destroy", "--data", "delete"), "gcloud projects delete demo --quiet"),
    ],
)
def test_each_command_can_be_rehearsed_d1(arguments: tuple[str, ...], printed: str) -> None:
    rehearsal = run(*arguments, *PLACE, "--dry-run")

    assert rehearsal.returncode == 0, rehearsal.stderr
    assert printed in rehearsal.stdout
    assert rehearsal.stdout.endswith("keepsake: This was a rehearsal: nothing of it ran.\n")


def test_a_place_that_is_not_named_is_asked_for_d1() -> None:
    refused = run("deploy", "--project", "", "--region", "europe-west1")

    assert refused.returncode == 2
    assert "name both: make deploy PROJECT=my-keepsake REGION=europe-west1" in refused.stderr
