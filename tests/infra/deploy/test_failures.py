"""Failures of commands: each that is known says what to do (D1)."""

import os
import sys

import pytest

from infra.deploy.failures import DeployError, explain_failure
from infra.deploy.shell import Terminal


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        (
            "Error: Error acquiring the state lock\n\nLock Info:\n  ID:        1718-abc\n",
            "force-unlock 1718-abc",
        ),
        ("Error 403: Cloud Run Admin API has not been used in project 12 before", "Wait two minutes"),
        ("Error 403: Permission 'billing.budgets.create' denied on resource", "the permission billing.budgets.create."),
        ("Error 409: Requested entity already exists", "terraform import"),
        ('oauth2: "invalid_grant" "reauth related error"', "gcloud auth login"),
        ("dial tcp: lookup storage.googleapis.com: no such host", "lost the network"),
        ("Error 429: Quota exceeded for quota metric", "Ask for more"),
    ],
)  # fmt: skip
def test_a_known_failure_says_what_to_do_and_shows_what_was_printed_d1(
    output: str, sentence: str
) -> None:
    text = explain_failure(("terraform", "apply"), output)

    assert sentence in text.partition("\n")[0]
    assert output.strip() in text


def test_an_unknown_failure_names_its_command_d1() -> None:
    assert explain_failure(("gcloud", "x y"), "odd") == "`gcloud 'x y'` failed:\n\nodd"


def test_a_command_shows_its_output_and_gets_a_secret_by_its_input(
    capsys: pytest.CaptureFixture[str],
) -> None:
    terminal = Terminal(os.environ)

    terminal.run(sys.executable, "-c", "print(input().upper())", stdin="secret")

    assert "SECRET\n" in capsys.readouterr().out
    assert terminal.succeeds(sys.executable, "-c", "")
    assert not terminal.succeeds(sys.executable, "-c", "raise SystemExit(1)")


def test_a_command_that_fails_stops_the_deployment() -> None:
    terminal = Terminal(os.environ)

    with pytest.raises(DeployError, match="Wait two minutes"):
        terminal.run(sys.executable, "-c", "raise SystemExit('SERVICE_DISABLED')")
