"""Deployment files: Hosting's rewrites and Terraform agree with infra/routes.json."""

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from shared.manual import PAGES

ROOT = Path(__file__).parents[2]
TERRAFORM = ROOT / "infra/terraform"
FIREBASE = json.loads((ROOT / "firebase.json").read_text())
FUNCTIONS: dict[str, Any] = json.loads((ROOT / "infra/routes.json").read_text())["functions"]


def test_hosting_rewrites_every_public_path_to_its_function_but_never_a_stream():
    """Hosting buffers responses, so functions that stream are not behind it."""
    expected = [
        {
            "source": re.sub(r"{[^}]*}", "*", path),
            "run": {"serviceId": name.replace("_", "-"), "region": "us-central1"},
        }
        for name, function in FUNCTIONS.items()
        if function["access"] == "public" and not function.get("streaming")
        for path in function["paths"]
    ]

    assert FIREBASE["hosting"]["rewrites"] == expected


def test_no_pattern_stands_before_a_path_of_another_function_that_it_matches():
    """Gateway and Hosting try the paths in their order; Terraform sorts those with patterns behind."""
    rows = [
        (name, path)
        for name, function in FUNCTIONS.items()
        if function["access"] == "public"
        for path in function["paths"]
    ]

    hidden = [
        (path, pattern)
        for position, (name, path) in enumerate(rows)
        for other, pattern in rows[:position]
        if other != name and matches(pattern, path)
    ]

    assert hidden == []


def matches(pattern: str, path: str) -> bool:
    """Tell whether a path without patterns of its own goes where the pattern leads."""
    expression = re.escape(re.sub(r"{[^}]*}", "*", pattern)).replace(r"\*\*", ".+")
    return "{" not in path and bool(re.fullmatch(expression.replace(r"\*", "[^/]+"), path))


def test_firebase_deploys_files_that_are_there():
    paths = [*FIREBASE["firestore"].values(), FIREBASE["hosting"]["public"]]

    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_each_index_and_override_is_listed_once():
    """Terraform fails to plan where two have one key."""
    file = json.loads((ROOT / "infra/firestore.indexes.json").read_text())
    listed = [*map(json.dumps, file["indexes"])]
    listed += [
        f"{entry['collectionGroup']}.{entry['fieldPath']}" for entry in file["fieldOverrides"]
    ]

    assert [entry for entry, times in Counter(listed).items() if times > 1] == []


def test_every_entry_point_is_served_under_its_name_by_the_file_that_routes_name():
    missing = [
        name
        for name, function in FUNCTIONS.items()
        if f'\n{name} = serve("{name}", ' not in (ROOT / function["source"]).read_text()
    ]

    assert missing == []


def test_terraform_grants_secrets_only_to_existing_functions():
    secrets = (TERRAFORM / "secrets.tf").read_text()
    readers = {
        name
        for names in re.findall(r"_KEY\s*= \[(.*)\]", secrets)
        for name in re.findall(r'"(\w+)"', names)
    }

    assert readers
    assert readers <= FUNCTIONS.keys()


def test_terraform_files_parse_and_are_formatted():
    terraform = shutil.which("terraform")
    if terraform is None:
        pytest.skip("terraform is not installed")

    result = subprocess.run(
        [terraform, "fmt", "-check", "-diff", TERRAFORM],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert result.returncode == 0, result.stdout + result.stderr


def test_gcloud_and_terraform_exclude_the_same_files():
    match = re.search(r"excludes = \[(.*?)\]", (TERRAFORM / "functions.tf").read_text(), re.DOTALL)
    ignored = (ROOT / ".gcloudignore").read_text().splitlines()[1:]

    assert match is not None
    assert re.findall(r'"([^"]+)"', match[1]) == ignored


def test_functions_and_the_image_get_the_pages_of_the_manual():
    pages = {f"docs/{page}.md" for page in PAGES}
    ignored = {*(ROOT / ".gcloudignore").read_text().splitlines()}

    assert not ignored & {"docs", "docs/*", "*.md", *pages}
    assert pages <= {*(ROOT / "Dockerfile").read_text().split()}
    assert {f"!{page}" for page in pages} <= {*(ROOT / ".dockerignore").read_text().splitlines()}


def test_the_deployed_console_is_told_all_that_its_sign_in_reads():
    written = (TERRAFORM / "console.tf").read_text().partition("jsonencode({")[2].partition("})")[0]
    scripts = [ROOT / "web" / name for name in ("firebase.js", "session.js", "views/sign_in.js")]
    read = {
        key
        for script in scripts
        for key in re.findall(r"\bconfig\.(?!json\b)(\w+)", script.read_text())
    }

    assert read <= set(re.findall(r"^ +(\w+) +=", written, re.MULTILINE))
    assert {"apiKey", "providers"} <= read


def test_every_file_of_the_console_has_a_media_type_in_the_cloud():
    table = (TERRAFORM / "console.tf").read_text().partition("media_types = {")[2].partition("}")[0]
    known = set(re.findall(r"^ +(\w+) +=", table, re.MULTILINE)) | {"md", "sh"}
    files = [path for path in (ROOT / "web").rglob("*") if path.is_file() and path.suffix]

    assert {path.name for path in files if path.suffix[1:] not in known} == set()
