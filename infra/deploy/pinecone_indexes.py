"""Pinecone's two indexes: made unless they are there; prints their hosts as JSON.

`python -m infra.deploy.pinecone_indexes --region us-central1 --project PROJECT` reads the key from PINECONE_API_KEY, or
from the project's secret of this name.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import httpx

from shared.environment.model_readers import SHORTENED_DIMENSIONS

URL = "https://api.pinecone.io"
API_VERSION = "2025-10"
CLOUD = "gcp"
TIMEOUT_S = 30.0
INDEXES: Mapping[str, Mapping[str, Any]] = {
    "sparse": {"vector_type": "sparse", "metric": "dotproduct"},
    "dense": {"vector_type": "dense", "metric": "cosine", "dimension": SHORTENED_DIMENSIONS},
}
_NOT_FOUND, _CONFLICT, _UNAUTHORIZED = 404, 409, 401


def ensure_indexes(api_key: str, *, region: str, url: str = URL) -> dict[str, str]:
    """Return the host of each index by its kind. Raises httpx.HTTPError."""
    headers = {"Api-Key": api_key, "X-Pinecone-Api-Version": API_VERSION}
    with httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT_S) as http:
        return {kind: _ensure_index(http, kind, fields, region) for kind, fields in INDEXES.items()}


def _ensure_index(http: httpx.Client, kind: str, fields: Mapping[str, Any], region: str) -> str:
    name = f"keepsake-{kind}"
    found = http.get(f"/indexes/{name}")
    if found.status_code != _NOT_FOUND:
        return str(found.raise_for_status().json()["host"])
    spec = {"serverless": {"cloud": CLOUD, "region": region}}
    body = {"name": name, "spec": spec, "deletion_protection": "enabled", **fields}
    made = http.post("/indexes", json=body)
    if made.status_code == _CONFLICT:
        # Somebody else made it in between.
        made = http.get(f"/indexes/{name}")
    return str(made.raise_for_status().json()["host"])


def main() -> None:
    parser = argparse.ArgumentParser(description="Make Pinecone's indexes, unless they are there.")
    parser.add_argument("--region", required=True, help="a region of Pinecone on Google Cloud")
    parser.add_argument("--project", required=True)
    parser.add_argument("--url", default=URL, help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        hosts = ensure_indexes(_read_key(options.project), region=options.region, url=options.url)
    except httpx.HTTPStatusError as failure:
        sys.exit(_explain(failure, options.region))
    sys.stdout.write(json.dumps(hosts) + "\n")


def _read_key(project: str) -> str:
    """Return the key: an older deployment stored it, and needs it no more from the environment."""
    key = os.environ.get("PINECONE_API_KEY")  # noqa: TID251  a command of its own, which no function runs
    if key:
        return key
    command = [
        "gcloud",
        "secrets",
        "versions",
        "access",
        "latest",
        "--secret=PINECONE_API_KEY",
        f"--project={project}",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _explain(failure: httpx.HTTPStatusError, region: str) -> str:
    if failure.response.status_code == _UNAUTHORIZED:
        return "Pinecone does not know this PINECONE_API_KEY: https://app.pinecone.io shows yours."
    return (
        f"Pinecone refused an index in {region} ({failure.response.status_code}): {failure.response.text[:300]}."
        " Its plan may not offer this region: set PINECONE_REGION to another one."
    )


if __name__ == "__main__":
    main()
