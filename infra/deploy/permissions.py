"""Permissions of whoever deploys, asked of Google at once: `python -m infra.deploy.permissions PROJECT`."""

import argparse
import subprocess
import sys

import httpx

URL = "https://cloudresourcemanager.googleapis.com"
TIMEOUT_S = 30.0
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


def find_missing_permissions(project: str, token: str, *, url: str = URL) -> list[str]:
    """Return what the token's account may not do in the project. Raises httpx.HTTPError."""
    answer = httpx.post(
        f"{url}/v1/projects/{project}:testIamPermissions",
        json={"permissions": NEEDED},
        headers={"Authorization": f"Bearer {token}"},
        timeout=TIMEOUT_S,
    ).raise_for_status()
    granted = answer.json().get("permissions", [])
    return [name for name in NEEDED if name not in granted]


def main() -> None:
    parser = argparse.ArgumentParser(description="Say which permissions of a project are missing.")
    parser.add_argument("project")
    parser.add_argument("--url", default=URL, help=argparse.SUPPRESS)
    options = parser.parse_args()
    token = subprocess.run(
        ["gcloud", "auth", "print-access-token"], capture_output=True, text=True, check=True
    ).stdout.strip()
    missing = find_missing_permissions(options.project, token, url=options.url)
    if missing:
        sys.exit(
            f"Your account lacks permissions in {options.project}: {', '.join(missing)}. Ask whoever owns the project"
            " for the role Owner, or for roles that hold these."
        )


if __name__ == "__main__":
    main()
