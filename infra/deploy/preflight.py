"""Checks before a deployment changes anything: each finds one thing that is missing, and says what to do."""

import re
import sys
from collections.abc import Iterator

from infra.deploy.failures import DeployError
from infra.deploy.shell import Shell
from infra.deploy.target import ROOT, Target
from shared.domain.value import value

TERRAFORM_VERSION = (1, 9)
_TOOLS = {
    "gcloud": "https://cloud.google.com/sdk/docs/install",
    "terraform": "https://developer.hashicorp.com/terraform/install",
}


@value
class Billing:
    """The project's number, and the account that pays for it."""

    project_number: str
    account: str


def find_local_problems(shell: Shell, target: Target) -> Iterator[str]:
    """List what this machine lacks, and what the environment's files leave open."""
    for tool, page in _TOOLS.items():
        if not shell.has(tool):
            yield f"{tool} is missing: install it, {page}."
    path = f"infra/terraform/foundation/{target.environment}.tfvars"
    for name in ("domain", "alert_email"):
        text = target.read_variable("foundation", name)
        if not text or text.endswith("example.org"):
            yield f"{path} names {text or 'nothing'} as {name}: write one of yours into it, and commit it."


def check_project(shell: Shell, target: Target) -> Billing:
    """Check who is signed in, and that the project is there and paid for."""
    _check_version(shell.read("terraform", "version", "-json", rehearsed=""))
    account = shell.read(
        "gcloud", "auth", "list", "--filter=status:ACTIVE", "--format=value(account)", rehearsed="you@example.org"
    )  # fmt: skip
    if not account:
        raise DeployError("Nobody is signed in: run `gcloud auth login`.")
    _require(
        shell,
        ("gcloud", "auth", "application-default", "print-access-token"),
        "Terraform has no credentials: run `gcloud auth application-default login`.",
    )
    number = _read_project_number(shell, target, account)
    billing = Billing(project_number=number, account=_read_billing_account(shell, target))
    shell.run(sys.executable, "-m", "infra.deploy.permissions", target.project)
    return billing


def _check_version(version: str) -> None:
    match = re.search(r'"terraform_version":\s*"(\d+)\.(\d+)', version)
    if match and (int(match[1]), int(match[2])) < TERRAFORM_VERSION:
        raise DeployError(
            f"Terraform {match[1]}.{match[2]} is too old: install 1.9 or newer,"
            " https://developer.hashicorp.com/terraform/install."
        )


def _require(shell: Shell, command: tuple[str, ...], sentence: str) -> None:
    try:
        shell.read(*command, rehearsed="token")
    except DeployError as failure:
        raise DeployError(sentence) from failure


def _read_project_number(shell: Shell, target: Target, account: str) -> str:
    try:
        return shell.read(
            "gcloud", "projects", "describe", target.project, "--format=value(projectNumber)", rehearsed="PROJECT_NUMBER"
        )  # fmt: skip
    except DeployError as failure:
        raise DeployError(
            f"There is no project {target.project}, or {account} may not see it: create it with"
            f" `gcloud projects create {target.project}`, or ask whoever owns it for access."
        ) from failure


def _read_billing_account(shell: Shell, target: Target) -> str:
    answer = shell.read(
        "gcloud", "billing", "projects", "describe", target.project,
        "--format=value(billingEnabled,billingAccountName)", rehearsed="True billingAccounts/BILLING_ACCOUNT"
    )  # fmt: skip
    is_enabled, _, account = answer.replace("\t", " ").partition(" ")
    if is_enabled.lower() != "true":
        raise DeployError(
            f"The project {target.project} has no billing: link an account with"
            f" `gcloud billing projects link {target.project} --billing-account=ACCOUNT`;"
            " `gcloud billing accounts list` shows yours."
        )
    return account.removeprefix("billingAccounts/").strip()


def check_readiness(shell: Shell, target: Target, billing: Billing) -> None:
    """Ask for what would refuse the deployment half-way; the first APIs have to be on. Raises DeployError."""
    shell.run(
        sys.executable, "-m", "infra.deploy.readiness", target.project, f"--region={target.region}",
        f"--firestore-location={target.firestore_location}", f"--billing-account={billing.account}",
        f"--environment={target.environment}",
    )  # fmt: skip


def check_source(shell: Shell) -> str:
    """Return the commit that is deployed. Raises DeployError where files differ from it."""
    commit = shell.read(
        "git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD", rehearsed="COMMIT"
    )
    changed = shell.read("git", "-C", str(ROOT), "status", "--porcelain", rehearsed="")
    if changed:
        raise DeployError(
            "Files differ from the last commit: commit them first, so that the image's name tells what is in it."
        )
    return commit
