"""Deployment files agree with infra/routes.json and with the console."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from functions.chat.tools.manual import PAGES
from tests.infra.terraform.stack import load_stack

ROOT = Path(__file__).parents[2]
FUNCTIONS: dict[str, Any] = json.loads((ROOT / "infra/routes.json").read_text())["functions"]


def test_no_pattern_stands_before_a_path_of_another_function_that_it_matches():
    """The gateway tries the paths in their order; Terraform sorts those with patterns behind."""
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


def test_each_index_and_override_is_listed_once():
    """Terraform fails to plan where two have one key."""
    file = json.loads((ROOT / "infra/firestore.indexes.json").read_text())
    listed = [*map(json.dumps, file["indexes"])]
    listed += [
        f"{entry['collectionGroup']}.{entry['fieldPath']}" for entry in file["fieldOverrides"]
    ]

    assert [entry for entry, times in Counter(listed).items() if times > 1] == []


def test_functions_and_the_image_get_the_pages_of_the_manual():
    pages = {f"docs/{page}.md" for page in PAGES}
    ignored = {*(ROOT / ".gcloudignore").read_text().splitlines()}

    assert not ignored & {"docs", "docs/*", "*.md", *pages}
    assert pages <= {*(ROOT / "Dockerfile").read_text().split()}
    assert {f"!{page}" for page in pages} <= {*(ROOT / ".dockerignore").read_text().splitlines()}


def test_the_deployed_console_is_told_all_that_its_sign_in_reads():
    stack = load_stack("foundation")
    written = {*stack.outputs["sign_in"]["value"], "sign_in", "authDomain"}
    scripts = [ROOT / "web" / name for name in ("firebase.js", "session.js", "views/sign_in.js")]
    read = {
        key
        for script in scripts
        for key in re.findall(r"\bconfig\.(?!json\b)(\w+)", script.read_text())
    }

    assert read <= written
    assert {"apiKey", "providers"} <= read
