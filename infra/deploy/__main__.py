"""Deployment to Google Cloud: `make deploy`, `make promote`, `make rollback`, `make smoke-test`, `make destroy`."""

import argparse
import os
import sys
from datetime import UTC, datetime

from infra.arguments import parse_number_between
from infra.deploy.failures import DeployError
from infra.deploy.releases import promote, roll_back
from infra.deploy.shell import Rehearsal, Shell, Terminal
from infra.deploy.stacks import Stack
from infra.deploy.steps import SMOKE_TEST, deploy, destroy, try_address
from infra.deploy.target import Target, list_environments

ENVIRONMENT = dict(os.environ)  # noqa: TID251  a command of its own, which no function runs


def main() -> None:
    options = _parse()
    shell: Shell = Rehearsal() if options.dry_run else Terminal(ENVIRONMENT)
    target = Target(
        project=options.project,
        region=options.region,
        firestore_location=options.firestore_location or options.region,
        environment=options.environment,
    )
    try:
        _carry_out(shell, target, options)
    except DeployError as failure:
        sys.exit(f"keepsake: {failure}")
    if options.dry_run:
        _say("This was a rehearsal: nothing of it ran.")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.deploy", description=__doc__)
    parser.add_argument(
        "action", choices=["deploy", "promote", "rollback", "smoke-test", "destroy"]
    )
    parser.add_argument("--project", required=True)
    parser.add_argument("--region", required=True)
    parser.add_argument(
        "--firestore-location", default="", help="the region, unless nam5 or eur3 is wanted"
    )
    parser.add_argument("--environment", choices=list_environments(), default="staging")
    parser.add_argument("--canary", type=parse_number_between(1, 99), metavar="PERCENT")
    parser.add_argument("--release", help="the release to go back to")
    parser.add_argument("--data", choices=["keep", "delete"], default="keep")
    parser.add_argument("--dry-run", action="store_true", help="print each command, and run none")
    options = parser.parse_args()
    if not options.project or not options.region:
        parser.error(f"name both: make {options.action} PROJECT=my-keepsake REGION=europe-west1")
    return options


def _carry_out(shell: Shell, target: Target, options: argparse.Namespace) -> None:
    services = Stack(shell, target, "services")
    match options.action:
        case "deploy":
            _deploy(shell, target, options)
        case "promote":
            services.initialise()
            promote(services, target.state_bucket, target.project)
        case "rollback":
            services.initialise()
            _say(f"{roll_back(shell, services, target, options.release)} has all requests again.")
        case "smoke-test":
            shell.run(*SMOKE_TEST, f"https://{target.read_variable('foundation', 'domain')}")
        case "destroy":
            _destroy(shell, target, options)


def _deploy(shell: Shell, target: Target, options: argparse.Namespace) -> None:
    outputs = deploy(shell, target, ENVIRONMENT, now=datetime.now(UTC), canary=options.canary)  # noqa: TID251  the one clock of this command
    if not outputs["objectives"]:
        _say(
            "Objectives and their alerts come with the next `make deploy`: their metrics are too new, or another deployment came between."
        )
    if options.canary:
        _say(
            f"The new release gets {options.canary} % of the requests: `make promote` or `make rollback` ends that."
        )
    _say(try_address(shell, outputs["origin"], outputs["api_address"]))


def _destroy(shell: Shell, target: Target, options: argparse.Namespace) -> None:
    if options.data == "delete":
        shell.run("gcloud", "projects", "delete", target.project, "--quiet")
        _say(
            f"{target.project} is deleted with everything in it. For 30 days `gcloud projects undelete {target.project}` brings it back."
        )
        return
    destroy(shell, target)
    _say(
        f"The functions are gone. Documents, files, keys, images, backups and the network, whose addresses Cloud Run holds for up to two"
        f" hours, stay in {target.project}, and `make deploy` goes on with them. `make destroy DATA=delete` deletes the project with everything in it; Pinecone's indexes are deleted at Pinecone."
    )


def _say(sentence: str) -> None:
    sys.stdout.write(f"keepsake: {sentence}\n")


if __name__ == "__main__":
    main()
