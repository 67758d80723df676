"""Manual: the pages of docs/ are found by the words of a question (P8)."""

import re
from pathlib import Path

import pytest

from functions.chat.tools.manual import FOLDER, MAX_PASSAGE_CHARS, PAGES, load_manual, search_manual

WEB = Path(__file__).parents[3] / "web"


@pytest.mark.parametrize(
    ("question", "page", "section"),
    [
        ("How do I import WhatsApp chats?", "import", ""),
        ("ollama on my machine", "models", "Ollama, on your own machine"),
        ("How do I back up?", "operate", "Back up"),
        ("MCP client", "programs", "MCP"),
        ("WEB_SEARCH", "settings", "What users may do"),
    ],
)
def test_a_question_finds_its_page_p8(question, page, section):
    found = search_manual(question, limit=4)

    assert any((passage.page, passage.section) == (page, section) for passage in found)
    assert len(found) <= 4


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("How do I export my data?", "Export my data"),
        ("Wie importiere ich WhatsApp?", "Import chats"),
        ("How do I change my password?", "Change my password"),
        ("Can I use it with Claude Desktop?", "Use it from Claude"),
        ("How do I stop an app from getting my conversations?", "Install an app"),
        ("Why was my conversation discarded?", "Find conversations"),
        ("How can I ask it to forget something?", "Forget something"),
    ],
)
def test_what_people_ask_of_the_console_is_found_first_p8(question, section):
    [passage] = search_manual(question, limit=1)

    assert (passage.page, passage.section[: len(section)]) == ("how-to", section)


def test_what_the_manual_tells_to_press_stands_on_the_screen_p8():
    screens = [*WEB.rglob("*.html"), *WEB.glob("views/*.js")]
    screen = " ".join(" ".join(path.read_text() for path in screens).split())
    labels = re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", (FOLDER / "how-to.md").read_text())
    steps = {step for label in labels for step in label.split(" → ")}

    assert {step for step in steps if step not in screen} == set()


def test_words_that_stand_nowhere_find_nothing_p8():
    assert search_manual("zxqvw", limit=4) == []
    assert search_manual("?!", limit=4) == []


def test_every_page_is_cut_into_passages_that_hold_all_of_it_p8():
    by_page = {page: [p for p in load_manual().passages if p.page == page] for page in PAGES}

    for page, passages in by_page.items():
        lines = (FOLDER / f"{page}.md").read_text().splitlines()
        joined = "\n".join(passage.text for passage in passages)
        headings = {passage.title for passage in passages} | {p.section for p in passages}
        for line in filter(None, map(str.strip, lines)):
            assert line in joined or line.lstrip("# ").removesuffix(" +") in headings, line
        assert max(len(passage.text) for passage in passages) < 2 * MAX_PASSAGE_CHARS
