"""Texts of every view of the console: each is translated, and none is written for machines (U8)."""

import json
import re
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Route

from infra.local.routing import ROOT
from tests.web.app_server import AppServer
from tests.web.conftest import new_context
from tests.web.console import Console
from tests.web.visible_texts import VisibleTexts, walk

CATALOG = Path(ROOT / "web/languages/ja.json")
DATA = "[dir=auto], [dir=ltr], [dir=auto] mark, bdi, [translate=no], [lang]:not(html)"
"""What people or outside services wrote is marked by its direction, the server's English by its language."""
FULLWIDTH = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}
TRANSLATED = re.compile(r"⟦[^⟦⟧]*⟧")
CUT_OFF = re.compile(r"^[^⟦⟧]*⟧|⟦[^⟦⟧]*$")
ADDRESS = re.compile(r"https?://\S+")
MACHINE_TEXT = re.compile(
    r"\d{4}-\d\d-\d\d"  # ISO stamps
    r"|\b[a-z]+_[a-z_]+"  # names of fields and tools
    r"|\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{16,}\b"  # ids
    r"|\bundefined\b|\bnull\b|\bNaN\b|\[object "
)


def test_every_visible_text_is_translated(
    browser: Browser, origin: str, app_server: AppServer
) -> None:
    """The pretended language is read on a Japanese page, whose dates have no Latin letters.

    A service worker would fetch the real catalog.
    """
    context = new_context(browser, locale="ja")
    page = context.new_page()
    page.route("**/languages/ja.json", serve_pretended_catalog)
    texts = VisibleTexts(page, is_untranslated, marks=DATA, inside=".prose, pre, code, [lang=en]")

    walk(Console(page, origin, [], []), context, app_server, texts, "translated")

    assert sorted(texts.found) == []
    context.close()


def test_no_view_shows_text_for_machines_u8(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    texts = VisibleTexts(console.page, is_for_machines, marks="code", inside="pre, code")

    walk(console, context, app_server, texts, "plain-reader")

    assert sorted(texts.found) == []


def serve_pretended_catalog(route: Route) -> None:
    catalog = {
        key: {"other": pretend_translation(key)}
        if isinstance(text, dict)
        else pretend_translation(key)
        for key, text in json.loads(CATALOG.read_text()).items()
    }
    route.fulfill(json=catalog)


def pretend_translation(text: str) -> str:
    """Put a text into brackets and into letters that English does not use; placeholders stay."""
    parts = re.split(r"(\{\w+\})", text)
    written = [part if at % 2 else part.translate(FULLWIDTH) for at, part in enumerate(parts)]
    return f"⟦{''.join(written)}⟧"


def is_untranslated(text: str) -> bool:
    """Find English letters outside of the brackets, of which a text between elements has only one."""
    rest = ADDRESS.sub("", text)
    while (shorter := TRANSLATED.sub("", rest)) != rest:
        rest = shorter
    return bool(re.search(r"[A-Za-z]", CUT_OFF.sub("", rest)))


def is_for_machines(text: str) -> bool:
    return bool(MACHINE_TEXT.search(ADDRESS.sub("", text)))
