"""Permissions of whoever deploys, asked of Google at once: `python -m infra.deploy.permissions PROJECT`."""

import argparse
import sys

from infra.deploy.google import URL, Google, open_google, read_token

NEEDED = (
    "artifactregistry.repositories.create",
    "cloudbuild.builds.create",
    "cloudkms.keyRings.create",
    "cloudtasks.queues.create",
    "compute.urlMaps.create",
    "datastore.databases.create",
    "eventarc.triggers.create",
    "firebase.projects.update",
    "iam.serviceAccounts.actAs",
    "iam.serviceAccounts.create",
    "monitoring.alertPolicies.create",
    "pubsub.topics.create",
    "resourcemanager.projects.setIamPolicy",
    "run.services.create",
    "secretmanager.secrets.create",
    "serviceusage.services.enable",
    "storage.buckets.create",
)


def find_missing_permissions(google: Google) -> list[str]:
    """Return what the account may not do in the project. Raises httpx.HTTPError."""
    return google.find_refused("cloudresourcemanager", f"v1/projects/{google.project}", NEEDED)


def main() -> None:
    parser = argparse.ArgumentParser(description="Say which permissions of a project are missing.")
    parser.add_argument("project")
    parser.add_argument("--url", default=URL, help=argparse.SUPPRESS)
    options = parser.parse_args()
    with open_google(options.project, read_token(), url=options.url) as google:
        missing = find_missing_permissions(google)
    if missing:
        sys.exit(
            f"Your account lacks permissions in {options.project}: {', '.join(missing)}. Ask whoever owns the project"
            " for the role Owner, or for roles that hold these."
        )


if __name__ == "__main__":
    main()
