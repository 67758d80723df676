"""Failures of commands: each that is known says what to do (D1, F1)."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from infra.deploy.failure_kinds import KINDS
from infra.deploy.failures import (
    UNKNOWN,
    DeployError,
    explain_failure,
    find_kinds,
    find_kinds_by_words,
    list_examples,
)
from infra.deploy.shell import Terminal
from tests.fixtures.encoder import needs_encoder

UNSEEN = [
    (kind, text)
    for kind, texts in json.loads(
        Path(__file__).with_name("unseen_failures.json").read_text("utf-8")
    ).items()
    for text in texts
]
"""Texts of Google, Terraform and ourselves that no example repeats, each with its kind."""
NAMED = [
    ("force-unlock 1718-abc", "Error: Error acquiring the state lock\n\nLock Info:\n  ID:        1718-abc\n"),
    ("`gcloud services enable firebaseappcheck.googleapis.com", "Error: googleapi: Error 403: Firebase App Check API has not been used in project 12 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/firebaseappcheck.googleapis.com/overview"),
    ("the permission kms.keys.create.", "Error: Error 403: Permission 'kms.keys.create' denied on resource"),
    ("(constraints/gcp.resourceLocations)", "Error: googleapi: Error 400: Constraint constraints/gcp.resourceLocations violated for [orgpolicy:projects/1] attempting to create a secret in [global]"),
    ("(service-1@gcp-sa-eventarc)", "Error: googleapi: Error 400: Service account service-1@gcp-sa-eventarc.iam.gserviceaccount.com does not exist., badRequest"),
    ("The secret OPENAI_API_KEY has no value", "Error: Error waiting to create Service: Secret projects/1/secrets/OPENAI_API_KEY/versions/latest was not found"),
    ("no image europe-west1-docker.pkg.dev/demo/keepsake/app", "Error: Error code 5, message: Image 'europe-west1-docker.pkg.dev/demo/keepsake/app@sha256:77' not found."),
    ("this service in africa-south1", "Error: Error creating Trigger: googleapi: Error 400: the location of trigger africa-south1 is not supported"),
    ("the value of resource.ipCidrRange", "Error: googleapi: Error 400: Invalid value for field 'resource.ipCidrRange': '10.8.0.0/20'. Invalid IPCidrRange"),
    ("wait 240 seconds", "Error: googleapi: Error 400: Database ID '(default)' is not available in project 'demo'. Please retry in 240 seconds."),
]  # fmt: skip


@needs_encoder
def test_failures_in_words_of_their_own_are_explained_rightly_or_not_at_all_f1() -> None:
    right, wrong, unexplained = _count(find_kinds([text for _, text in UNSEEN]))

    assert right >= 62
    assert wrong <= 2
    assert unexplained >= 16


def test_words_alone_explain_most_of_them_where_no_encoder_runs_f1() -> None:
    right, wrong, unexplained = _count(find_kinds_by_words([text for _, text in UNSEEN]))

    assert right >= 55
    assert wrong <= 3
    assert unexplained >= 13


@pytest.mark.parametrize(
    "text",
    [
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0",
        "ValueError: invalid literal for int() with base 10: 'bucket'",
        "Error: Error creating Queue: googleapi: Error 400: maxConcurrentDispatches must be positive",
    ],
)
def test_a_text_that_shares_a_word_with_examples_is_not_explained_by_them_f1(text: str) -> None:
    assert find_kinds_by_words([text]) == [UNKNOWN]


def _count(found: Sequence[str]) -> tuple[int, int, int]:
    """Count the known that are explained rightly and wrongly, and the unknown that are not explained."""
    pairs = [(kind, label) for (kind, _), label in zip(UNSEEN, found, strict=True)]
    known = [pair for pair in pairs if pair[0] != UNKNOWN]
    right = sum(kind == label for kind, label in known)
    wrong = sum(label not in (kind, UNKNOWN) for kind, label in known)
    return right, wrong, pairs.count((UNKNOWN, UNKNOWN))


def test_every_kind_has_a_sentence_and_every_example_is_of_its_kind_f1() -> None:
    labels, texts = zip(*list_examples(), strict=True)

    assert set(labels) == {*KINDS, UNKNOWN}
    assert find_kinds_by_words(texts) == list(labels)


def test_a_sentence_says_the_names_that_its_error_says_and_shows_what_was_printed_f1() -> None:
    output = "".join(f"{text}\n\n" for _, text in NAMED)

    text = explain_failure(("terraform", "apply"), output)

    sentences = text.partition("\n")[0]
    assert [name for name, _ in NAMED if name not in sentences] == []
    assert output.strip()[-1000:] in text


def test_errors_of_a_kind_are_explained_once_f1() -> None:
    error = "╷\n│ Error: googleapi: Error 403: Firebase Tos Not Accepted\n╵\n"

    sentences = explain_failure(("terraform", "apply"), error * 2).partition("\n")[0]

    assert sentences.count("accept them") == 1


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

    with pytest.raises(DeployError, match="wait two minutes"):
        terminal.run(sys.executable, "-c", "raise SystemExit('SERVICE_DISABLED')")
