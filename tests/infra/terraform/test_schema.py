"""Terraform's files: written as the providers' schema says, and whole in themselves (D1).

The schema is recorded (record_schema.py), because providers cannot be had everywhere.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.infra.terraform.record_schema import META_ARGUMENTS, SCHEMA
from tests.infra.terraform.stack import FOUNDATION, STACKS, TERRAFORM, list_entries, load_stack

PROVIDERS: dict[str, Any] = json.loads(SCHEMA.read_text())
ATTRIBUTE = re.compile(r"\b(google_\w+)\.(\w+)(?:\[[^\]]*(?:\[[^\]]*\][^\]]*)*\])?\.(\w+)")


def find_faults(block: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    """List the arguments and blocks that the schema does not know, and those that it misses."""
    contents = dict(list_entries(block))
    dynamic = contents.pop("dynamic", [])
    blocks = [(name, body) for row in dynamic for name, body in list_entries(row)]
    for name, body in blocks:
        yield from find_faults({name: body["content"]}, {name: schema.get(name)}, where)
    for name, value in contents.items():
        known = schema.get(name)
        if known is None:
            yield f"{where} has no {name}"
        elif isinstance(known, dict) and isinstance(value, list):
            for item in value:
                yield from find_faults(item, known["set"], f"{where}.{name}")
        elif isinstance(known, dict) and not isinstance(value, dict):
            yield f"{where}.{name} is a block"
    given = contents.keys() | {name for name, _ in blocks}
    yield from (
        f"{where} lacks {name}"
        for name, known in schema.items()
        if (known["required"] if isinstance(known, dict) else known)
        if known is not None and name not in given
    )


@pytest.mark.parametrize("name", STACKS)
def test_each_resource_says_what_its_provider_knows_and_needs_d1(name: str) -> None:
    faults = [
        fault
        for resource, body in load_stack(name).resources.items()
        for fault in find_faults(
            {key: value for key, value in list_entries(body) if key not in META_ARGUMENTS},
            PROVIDERS[resource.split(".")[0]]["set"],
            resource,
        )
    ]

    assert faults == []


def test_a_misspelt_a_missing_and_a_misplaced_argument_are_found() -> None:
    schema = PROVIDERS["google_pubsub_subscription"]["set"]
    block = {"name": "x", "push_config": [{"endpoint": "y"}], "retry_policy": "z"}

    assert list(find_faults(block, schema, "s")) == [
        "s.push_config has no endpoint",
        "s.push_config lacks push_endpoint",
        "s.retry_policy is a block",
        "s lacks topic",
    ]


@pytest.mark.parametrize("name", STACKS)
def test_each_attribute_that_is_read_is_one_of_its_resource_d1(name: str) -> None:
    stack = load_stack(name)
    read = {match for match in ATTRIBUTE.findall(stack.text) if f"{match[0]}.{match[1]}" in stack.resources}  # fmt: skip

    assert len(read) > 5
    assert {row for row in read if row[2] not in PROVIDERS[row[0]]["read"]} == set()


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
