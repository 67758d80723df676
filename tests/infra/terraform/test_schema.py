"""Terraform's files: whole in themselves, and written as Terraform formats them (D1)."""

import re
import shutil
import subprocess

import pytest

from tests.infra.terraform.stack import FOUNDATION, STACKS, TERRAFORM, load_stack


@pytest.mark.parametrize("name", STACKS)
def test_all_that_is_named_is_there_and_all_that_is_there_is_used_d1(name: str) -> None:
    stack = load_stack(name)
    code = re.sub(r"#.*", "", stack.text)
    used_locals = set(re.findall(r"(?<!\.)\blocal\.(\w+)", code))
    used_variables = set(re.findall(r"\bvar\.(\w+)", code))
    used_resources = {
        f"{kind}.{label}" for kind, label in re.findall(r"\b(google_\w+)\.(\w+)", code)
    }

    assert used_locals == stack.locals.keys()
    assert used_variables == stack.variables.keys()
    assert used_resources <= stack.resources.keys()


def test_the_services_read_what_the_foundation_tells_d1() -> None:
    told = load_stack("foundation").outputs.keys()
    read = set(re.findall(r"\blocal\.foundation\.(\w+)", load_stack("services").text))

    assert read <= told
    assert told == FOUNDATION.keys()


@pytest.mark.parametrize("name", STACKS)
def test_values_of_locals_depend_on_no_resource(name: str) -> None:
    """So that tests evaluate them, and a plan knows them before anything is made."""
    stack = load_stack(name)

    assert [key for key, value in stack.locals.items() if re.search(r"\bgoogle_\w+\.", str(value))] == []  # fmt: skip


@pytest.mark.parametrize("name", STACKS)
def test_nothing_is_run_on_the_machine_that_applies_d1(name: str) -> None:
    assert not re.search(r"provisioner|local-exec|external\"|null_resource", load_stack(name).text)


@pytest.mark.parametrize("environment", ["staging", "production"])
@pytest.mark.parametrize("name", STACKS)
def test_an_environment_sets_variables_that_are_there_d1(name: str, environment: str) -> None:
    text = (TERRAFORM / name / f"{environment}.tfvars").read_text()
    names = set(re.findall(r"^(\w+) +=", text, re.MULTILINE))

    assert names
    assert names <= load_stack(name).variables.keys()


def test_files_are_formatted_as_terraform_formats_them() -> None:
    terraform = shutil.which("terraform")
    if terraform is None:
        pytest.skip("terraform is not installed")

    result = subprocess.run(
        [terraform, "fmt", "-check", "-diff", "-recursive", TERRAFORM],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert result.returncode == 0, result.stdout + result.stderr
