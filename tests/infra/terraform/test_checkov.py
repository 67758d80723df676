"""Known mistakes in Terraform, as checkov finds them (D1)."""

import os
import subprocess

import pytest

from infra.emulators.process import CannotRunError
from infra.virtual_environment import install_packages
from tests.infra.terraform.stack import TERRAFORM

CHECKS = TERRAFORM / "checks"
TIMEOUT_S = 300


@pytest.mark.timeout(2 * TIMEOUT_S)
def test_checkov_finds_nothing_but_what_is_explained_d1() -> None:
    try:
        python = install_packages(CHECKS / "packages.txt", "checkov")
    except CannotRunError as error:
        if os.environ.get("REQUIRE_ALL") == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))

    result = subprocess.run(
        [
            python,
            python.with_name("checkov"),
            *("--directory", TERRAFORM, "--config-file", CHECKS / "checkov.yaml"),
            "--skip-download",
        ],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )

    assert result.returncode == 0, result.stdout + result.stderr
    assert "Failed checks: 0" in result.stdout
