"""Deployment of an empty, a half-applied and a running project; and what each missing thing is told (D1)."""

import json
import re
import shlex
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from infra.deploy.failures import DeployError
from infra.deploy.firestore_indexes import MAX_POLLS
from infra.deploy.preflight import find_local_problems
from infra.deploy.shell import Rehearsal
from infra.deploy.steps import MAX_METRIC_POLLS, deploy, destroy, prepare, try_address
from infra.deploy.target import ROOT, Target
from tests.infra.deploy.scripted_shell import (
    SERVICES,
    ScriptedShell,
    read_variables,
    write_outputs,
)
from tests.infra.terraform.stack import evaluate_expressions, load_stack

TARGET = Target(project="demo", region="europe-west1", firestore_location="eur3", environment="staging")  # fmt: skip
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
EMPTY = ("buckets describe", "versions describe", "images describe")
KEYS = {"OPENAI_API_KEY": "sk-of-ann", "PINECONE_API_KEY": "pc-of-ann"}


class ReadyShell(ScriptedShell):
    """A shell on a machine whose environment files name a real domain."""

    def refuse(self, problem: str) -> None:
        if "example.org" not in problem:
            super().refuse(problem)


def run_deploy(shell: ScriptedShell, *, canary: int | None = None) -> dict[str, Any]:
    return deploy(shell, TARGET, KEYS, now=NOW, canary=canary)


def test_an_empty_project_becomes_a_working_address_step_by_step_d1() -> None:
    shell = ReadyShell(absent=EMPTY, answers={"services output": "{}"})

    run_deploy(shell)

    steps = [
        "infra.deploy.permissions demo", "gcloud services enable", "infra.deploy.readiness demo", "gcloud storage buckets create", "--versioning",
        "foundation init", "foundation apply", "secrets versions add OPENAI_API_KEY", "secrets versions add PINECONE_API_KEY",
        "secrets versions add PSEUDONYM_KEY", "gcloud builds submit", "services init", "services apply", "-var=objectives=true",
    ]  # fmt: skip
    assert len(shell.commands) == len(steps)
    assert sorted(steps[6:9]) == steps[6:9]
    for step, command in zip(steps, sorted_secrets(shell.commands), strict=True):
        assert step in command


def sorted_secrets(commands: list[str]) -> list[str]:
    """Values of secrets may be added in any order."""
    secrets = sorted(command for command in commands if "versions add" in command)
    return [secrets.pop(0) if "versions add" in command else command for command in commands]


def test_objectives_come_when_their_metrics_are_known_or_with_the_next_deployment_f1() -> None:
    shell = ReadyShell(absent=("infra.deploy.metrics",), answers={"services output": "{}"})

    run_deploy(shell)

    applied = [read_variables(c)["objectives"] for c in shell.commands if "services apply" in c]
    assert applied == ["false"]
    assert len(shell.waits) == MAX_METRIC_POLLS


def test_a_deployment_that_came_meanwhile_is_not_taken_back_for_objectives_d1() -> None:
    shell = OvertakenShell(absent=("infra.deploy.metrics",), answers={"services output": "{}"})

    run_deploy(shell)

    applied = [read_variables(c)["objectives"] for c in shell.commands if "services apply" in c]
    assert applied == ["false"]


class OvertakenShell(ReadyShell):
    """A shell beside which somebody else deploys, while it waits for metrics."""

    def wait(self, seconds: float, reason: str) -> bool:
        self.absent = ()
        self.keep_release("r20260302t091000")
        return super().wait(seconds, reason)


def test_indexes_that_outlasted_an_apply_are_taken_over_and_waited_for_f1() -> None:
    index = json.loads((ROOT / "infra/firestore.indexes.json").read_text())["indexes"][0]
    name = (
        f"projects/demo/databases/(default)/collectionGroups/{index['collectionGroup']}/indexes/1"
    )
    fields = [*index["fields"], {"fieldPath": "__name__", "order": "ASCENDING"}]
    listed = {
        "name": name,
        "queryScope": index["queryScope"],
        "fields": fields,
        "state": "CREATING",
    }
    shell = ReadyShell(answers={
        "gcloud firestore indexes composite list": json.dumps([listed]),
        "gcloud firestore operations list": "operations/1\tTrue\noperations/2\t",
    })  # fmt: skip

    with pytest.raises(DeployError, match="still builds 1 indexes and fields"):
        run_deploy(shell)

    [apply] = [command for command in shell.commands if "foundation apply" in command]
    keys: Any = evaluate_expressions("foundation", "[for index in local.index_file.indexes : jsonencode(index)]", domain="d", alert_email="m", monthly_budget=1)  # fmt: skip
    assert json.loads(read_variables(apply)["built_indexes"]) == {keys[0]: name}
    assert "services apply" not in " ".join(shell.commands)
    assert len(shell.waits) == MAX_POLLS


@pytest.mark.parametrize("is_led", [True, False])
def test_a_deployment_ends_well_before_its_name_leads_to_it_and_says_the_record_f1(
    is_led: bool,  # noqa: FBT001  pytest passes it by name
) -> None:
    shell = ReadyShell(absent=() if is_led else ("infra.deploy.domain",))

    said = try_address(shell, "https://keepsake.example.org", "192.0.2.1")

    assert ("keepsake.example.org.  A  192.0.2.1" in said) is not is_led
    assert ("infra.deploy.smoke_test" in " ".join(shell.commands)) is is_led


def test_a_second_deployment_makes_nothing_twice_and_brings_the_new_release_d1() -> None:
    shell = ReadyShell()

    run_deploy(shell)

    assert not [c for c in shell.commands if re.search("create|versions add|builds submit", c)]
    variables = read_variables(shell.commands[-1])
    assert variables["release"] == "r20260302t090000"
    assert variables["image"] == (
        f"europe-west1-docker.pkg.dev/demo/keepsake/functions@sha256:{'0' * 64}"
    )
    assert variables["canary"] == "null"


def test_a_deployment_that_stopped_goes_on_where_it_stopped_d1() -> None:
    """The image was not built, and a secret has no value yet; everything before is there."""
    shell = ReadyShell(absent=("images describe", "--secret=OPENAI_API_KEY"))

    run_deploy(shell)

    made = [c for c in shell.commands if re.search("create|versions add|builds submit", c)]
    assert ["OPENAI_API_KEY" in made[0], "builds submit" in made[1], len(made)] == [True, True, 2]


def test_a_canary_shares_with_the_functions_that_the_release_before_has_d2() -> None:
    shell = ReadyShell()

    run_deploy(shell, canary=10)

    assert json.loads(read_variables(shell.commands[-1])["canary"]) == {
        "stable": "r1",
        "functions": ["chat", "library"],
        "percent": 10,
    }


def test_a_canary_beside_a_release_that_came_half_way_is_refused_d2() -> None:
    """Terraform writes of a release that failed all outputs, as if all functions had it."""
    shell = ReadyShell(answers={"gcloud run services list": "chat-r1\nlibrary-r0\nafter-turn-r1"})

    with pytest.raises(DeployError, match="r1 came half-way: library did not get it"):
        run_deploy(shell, canary=10)

    assert "services apply" not in " ".join(shell.commands)


def test_a_canary_beside_a_canary_keeps_the_stable_release_d2() -> None:
    share = {"stable": "r0", "functions": ["chat"], "percent": 10}
    shell = ReadyShell(answers={"services output": write_outputs({**SERVICES, "canary": share})})

    run_deploy(shell, canary=20)

    assert json.loads(read_variables(shell.commands[-1])["canary"]) == {**share, "percent": 20}


def test_the_first_release_has_nobody_to_share_with_d2() -> None:
    shell = ReadyShell(answers={"services output": "{}"})

    run_deploy(shell, canary=10)

    assert read_variables(shell.commands[-1])["canary"] == "null"


def test_no_secret_stands_in_a_command_and_made_keys_are_long_s8() -> None:
    shell = ReadyShell(absent=EMPTY)

    run_deploy(shell)

    assert shell.secrets.keys() == {"OPENAI_API_KEY", "PINECONE_API_KEY", "PSEUDONYM_KEY"}
    assert shell.secrets["OPENAI_API_KEY"] == "sk-of-ann"
    assert len(shell.secrets["PSEUDONYM_KEY"]) >= 48
    lines = " ".join(shell.commands + shell.questions)
    assert not [value for value in shell.secrets.values() if value in lines]


@pytest.mark.parametrize(
    ("answers", "absent", "sentence"),
    [
        ({"gcloud auth list": ""}, (), "Nobody is signed in: run `gcloud auth login`."),
        (
            {"gcloud auth application-default print-access-token": None},
            (),
            "Terraform has no credentials: run `gcloud auth application-default login`.",
        ),
        (
            {"terraform version": '{"terraform_version": "1.5.7"}'},
            (),
            "Terraform 1.5 is too old: install 1.9 or newer,",
        ),
        (
            {"gcloud projects describe": None},
            (),
            "There is no project demo, or ann@example.com may not see it: create it",
        ),
        (
            {"gcloud billing projects describe": "False\t"},
            (),
            "The project demo has no billing: link an account with `gcloud billing projects link demo",
        ),
        ({"status --porcelain": " M Makefile"}, (), "Files differ from the last commit: commit them"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said_in_a_sentence_before_anything_is_made_d1(
    answers: dict[str, str | None], absent: tuple[str, ...], sentence: str
) -> None:
    shell = ReadyShell(answers=answers, absent=absent)

    with pytest.raises(DeployError, match=re.escape(sentence)):
        prepare(shell, TARGET)

    assert not [c for c in shell.commands if "create" in c or "apply" in c]


def test_forgotten_secrets_are_named_together_before_any_is_stored_d1() -> None:
    shell = ReadyShell(absent=EMPTY)

    with pytest.raises(DeployError, match="OPENAI_API_KEY, PINECONE_API_KEY: no value is stored"):
        deploy(shell, TARGET, {}, now=NOW, canary=None)

    assert shell.secrets == {}
    assert "services apply" not in " ".join(shell.commands)


def test_a_key_that_pinecone_does_not_know_is_not_stored_d1() -> None:
    """A stored value is never asked for again: the functions would have the wrong one."""
    shell = ReadyShell(absent=EMPTY, answers={"infra.deploy.pinecone_indexes": None})

    with pytest.raises(DeployError):
        run_deploy(shell)

    assert shell.secrets == {}


def test_data_is_not_looked_for_in_another_place_d1() -> None:
    """A forgotten FIRESTORE_LOCATION would let Terraform make the database anew."""
    shell = ReadyShell()
    elsewhere = Target(
        project="demo",
        region="europe-west1",
        firestore_location="europe-west1",
        environment="staging",
    )

    with pytest.raises(
        DeployError, match="is in eur3, and cannot be moved: say FIRESTORE_LOCATION=eur3"
    ):
        deploy(shell, elsewhere, KEYS, now=NOW, canary=None)

    assert "foundation apply" not in " ".join(shell.commands)


def test_a_machine_without_tools_and_an_environment_of_nobody_are_named_d1() -> None:
    shell = ScriptedShell(absent=("gcloud", "terraform"))

    problems = list(find_local_problems(shell, TARGET))

    assert [problem.partition(":")[0] for problem in problems] == [
        "gcloud is missing",
        "terraform is missing",
        "infra/terraform/foundation/staging.tfvars names staging.keepsake.example.org as domain",
        "infra/terraform/foundation/staging.tfvars names operators@example.org as alert_email",
    ]


def test_destroying_takes_the_functions_and_leaves_the_data_d1() -> None:
    shell = ReadyShell()

    destroy(shell, TARGET)

    assert ["services init" in shell.commands[0], "services destroy" in shell.commands[1]] == [True, True]  # fmt: skip
    assert "foundation" not in " ".join(shell.commands)
    assert {"project", "state_bucket", "image", "release"} <= read_variables(shell.commands[1]).keys()  # fmt: skip


def test_destroying_what_is_not_there_does_nothing_d1() -> None:
    shell = ReadyShell(answers={"services output": "{}"})

    destroy(shell, TARGET)

    assert [command for command in shell.commands if "destroy" in command] == []


@pytest.mark.parametrize("stack", ["foundation", "services"])
def test_each_variable_that_has_no_default_is_given_and_none_that_is_not_there_d1(stack: str) -> None:  # fmt: skip
    shell = ReadyShell()
    run_deploy(shell)
    [command] = [line for line in shell.commands if f"{stack} apply" in line]
    declared = load_stack(stack).variables
    in_file = set(re.findall(r"^(\w+) +=", (ROOT / f"infra/terraform/{stack}/staging.tfvars").read_text(), re.MULTILINE))  # fmt: skip
    needed = {name for name, body in declared.items() if "default" not in body}

    given = read_variables(command).keys() | in_file
    assert needed <= given <= declared.keys()


def test_each_output_that_is_read_is_one_of_its_stack_d1() -> None:
    scripts = "".join(path.read_text() for path in (ROOT / "infra/deploy").glob("*.py"))
    foundation, services = load_stack("foundation").outputs, load_stack("services").outputs

    assert set(re.findall(r"foundation\[['\"](\w+)['\"]\]", scripts)) <= foundation.keys()
    assert set(re.findall(r"outputs\[['\"](\w+)['\"]\]", scripts)) <= services.keys()
    assert SERVICES.keys() <= services.keys()


def test_a_rehearsal_prints_every_command_and_runs_none_d1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    deploy(Rehearsal(), TARGET, KEYS, now=NOW, canary=10)

    printed = capsys.readouterr().out
    for step in ("gcloud services enable", "foundation apply", "gcloud secrets versions add OPENAI_API_KEY", "gcloud secrets versions add PINECONE_API_KEY", "gcloud builds submit", "services apply"):  # fmt: skip
        assert step in printed
    assert "sk-of-ann" not in printed
    assert {line[0] for line in printed.splitlines()} == {"$", "?", "!"}


def test_gcloud_knows_every_command_and_option_d1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """By gcloud's own check, which asks nobody."""
    gcloud = shutil.which("gcloud")
    if gcloud is None:
        pytest.skip("gcloud is not installed")
    deploy(Rehearsal(), TARGET, KEYS, now=NOW, canary=None)
    printed = [
        line[2:].removesuffix(" < (a secret)") for line in capsys.readouterr().out.splitlines()
    ]
    commands = [line for line in printed if line.startswith("gcloud ")]
    commands += ["gcloud run services list --project=demo --region=europe-west1 --format=value(status.latestReadyRevisionName)",
                 "gcloud run revisions list --project=demo --region=europe-west1 --format=value(metadata.name)",
                 "gcloud projects delete demo --quiet", "gcloud auth print-access-token"]  # fmt: skip

    lines = {" ".join(shlex.split(command)) for command in commands}
    file = tmp_path / "commands.json"
    file.write_text(json.dumps([{"command_string": line} for line in sorted(lines)]))
    answer = subprocess.run(
        [gcloud, "meta", "lint-gcloud-commands", f"--commands-file={file}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    verdicts = json.loads(answer.stdout)

    assert len(verdicts) == len(lines) > 15
    assert [verdict for verdict in verdicts if not verdict["success"]] == []


def test_the_build_gets_what_the_image_copies_and_no_data_d2() -> None:
    ignored = (ROOT / "infra/deploy/image.gcloudignore").read_text().splitlines()[1:]
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)  # fmt: skip
    sources = {source for names in copied for source in names.split()}

    assert {source for source in sources if is_below(source, ignored)} == set()
    assert {".git", ".env", ".keepsake", "tests"} <= set(ignored)


def is_below(source: str, patterns: list[str]) -> bool:
    return any(source == pattern or Path(pattern) in Path(source).parents for pattern in patterns)
