"""The documents: every link and path in them exists, and every setting is described."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
SETTING = re.compile(r'\w\(\s*"([A-Z_]{2,})"')
PATH = re.compile(r"`((?:docs|examples|functions|infra|shared|tests|web)/[\w./]+)`")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_link_and_path_in_a_document_exists(document: Path):
    text = document.read_text()
    targets = {document.parent / link for link in LINK.findall(text)}
    targets |= {ROOT / path for path in PATH.findall(text)}

    assert [str(path) for path in targets if not path.exists()] == []


def test_every_setting_is_described():
    files = [ROOT / "shared/settings.py", *(ROOT / "shared/environment").glob("*.py")]
    settings = {name for file in files for name in SETTING.findall(file.read_text())}
    page = (ROOT / "docs/settings.md").read_text()

    assert [name for name in sorted(settings) if f"`{name}" not in page] == []
