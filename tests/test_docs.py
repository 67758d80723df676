"""The documents: every link and path in them exists, and every setting is described."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DECISIONS = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
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


def count_words(*documents: Path) -> int:
    return sum(len(document.read_text().split()) for document in documents)


def test_a_stranger_reads_the_readme_in_three_minutes():
    assert count_words(ROOT / "README.md") <= 900


def test_the_architecture_is_read_in_ten_minutes():
    assert count_words(ROOT / "docs/architecture.md") <= 2_500


def test_all_documents_together_are_read_in_an_afternoon():
    """As `wc -w` counts: a page that grows has another one cut."""
    assert count_words(*(ROOT / "docs").rglob("*.md")) <= 40_000


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda decision: decision.name)
def test_a_decision_is_a_page_with_its_number_by_which_the_architecture_explains_itself(
    decision: Path,
):
    title = decision.read_text().split("\n")[0]

    assert count_words(decision) <= 250
    assert title.startswith(f"# {decision.stem}: ")
    assert f"](decisions/{decision.name})" in (ROOT / "docs/architecture.md").read_text()
