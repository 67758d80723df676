"""Releases: a canary, its promotion, and the way back (D2)."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.deploy.failures import DeployError
from infra.deploy.releases import NEEDED_VARIABLES, plan_canary, promote, roll_back
from infra.deploy.stacks import Stack
from infra.deploy.target import Target
from tests.infra.deploy.scripted_shell import SERVICES, ScriptedShell, write_outputs

TARGET = Target(project="demo", region="europe-west1", firestore_location="eur3", environment="production")  # fmt: skip
CANARY = {"stable": "r0", "functions": ["chat", "library"], "percent": 10}


def build_shell(**outputs: Any) -> ScriptedShell:
    return ScriptedShell(answers={"services output": write_outputs({**SERVICES, **outputs})})


def read_canary(shell: ScriptedShell) -> Any:
    match = re.search(r"-var=canary=(.*)$", shell.commands[-1])
    assert match is not None
    return json.loads(match[1])


def test_a_promotion_gives_the_new_release_everything_and_keeps_its_image_d2() -> None:
    shell = build_shell(canary=CANARY)

    promote(Stack(shell, TARGET, "services"), TARGET.state_bucket, TARGET.project)

    assert read_canary(shell) is None
    assert "-var=release=r1 " in shell.commands[-1]
    assert "-var=image=i@sha256:1 " in shell.commands[-1]


def test_a_promotion_without_a_canary_says_so_d2() -> None:
    with pytest.raises(DeployError, match="r1 has all requests already"):
        promote(Stack(build_shell(), TARGET, "services"), TARGET.state_bucket, TARGET.project)


def test_a_rollback_of_a_canary_gives_everything_to_the_release_before_d2() -> None:
    shell = build_shell(canary=CANARY)

    assert roll_back(shell, Stack(shell, TARGET, "services"), TARGET, None) == "r0"

    assert read_canary(shell) == {**CANARY, "percent": 0}


def test_a_rollback_to_a_named_release_leaves_out_functions_that_are_newer_d2() -> None:
    shell = build_shell()

    roll_back(shell, Stack(shell, TARGET, "services"), TARGET, "r0")

    assert read_canary(shell)["functions"] == ["chat", "library"]


@pytest.mark.parametrize(
    ("release", "sentence"),
    [(None, "Say to which release"), ("r9", "No function has the release 'r9' any more.")],
)
def test_a_rollback_to_nowhere_changes_nothing_d2(release: str | None, sentence: str) -> None:
    shell = build_shell()

    with pytest.raises(DeployError, match=sentence):
        roll_back(shell, Stack(shell, TARGET, "services"), TARGET, release)

    assert shell.commands == []


ACTIONS: dict[str, Callable[[ScriptedShell, Stack], object]] = {
    "promote": lambda _, stack: promote(stack, TARGET.state_bucket, TARGET.project),
    "roll_back": lambda shell, stack: roll_back(shell, stack, TARGET, None),
    "roll_back to": lambda shell, stack: roll_back(shell, stack, TARGET, "r0"),
    "canary": lambda shell, stack: plan_canary(shell, TARGET, stack.read_outputs({}), 10),
}


@pytest.mark.parametrize("action", ACTIONS)
@given(outputs=st.fixed_dictionaries({}, optional={n: st.just(v) for n, v in SERVICES.items()}))
def test_any_older_state_is_read_or_refused_in_a_sentence_d2(
    action: str, outputs: dict[str, Any]
) -> None:
    shell = ScriptedShell(answers={"services output": write_outputs(outputs)})

    with suppress(DeployError):
        ACTIONS[action](shell, Stack(shell, TARGET, "services"))

    for command in shell.commands:
        applied = dict(re.findall(r"-var=(\w+)=(\S*)", command))
        assert applied.items() >= {(name, outputs[name]) for name in NEEDED_VARIABLES}
        assert ("objectives" in applied) == ("objectives" in outputs)


def test_nothing_is_promoted_before_a_first_deployment_d2() -> None:
    shell = ScriptedShell(answers={"services output": "{}"})

    with pytest.raises(DeployError, match="Nothing is deployed here yet"):
        promote(Stack(shell, TARGET, "services"), TARGET.state_bucket, TARGET.project)
