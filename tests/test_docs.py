"""What the documents point to is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`((?:docs|examples|functions|infra|shared|tests|web)/[\w./]+)`")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_link_and_path_in_a_document_exists(document: Path):
    text = document.read_text()
    targets = {document.parent / link for link in LINK.findall(text)}
    targets |= {ROOT / path for path in PATH.findall(text)}

    assert [str(path) for path in targets if not path.exists()] == []
