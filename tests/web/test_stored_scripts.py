"""Stored scripts: whatever a text of the product holds, no view of the console runs it, links it or loads it."""

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Route

from tests.web.app_server import AppServer
from tests.web.console import Console
from tests.web.visible_texts import VisibleTexts, walk

ATTACK = "javascript:owned()"
HOSTILE = (
    '\'"><img src=x onerror="owned()"><svg onload="owned()"></svg><script>owned()</script>'
    f'<iframe srcdoc="<script>parent.owned()</script>"></iframe> [x]({ATTACK}) <{ATTACK}>'
    ' ![](https://evil.example/p.png) <a href="data:text/html,<script>owned()</script>">y</a>'
)
NAMES = re.compile(
    r"(^|_)(name|title|label|text|content|description|overview|summary|headline|author|speaker|emoji"
    r"|reason|detail|filename|excerpt|words|question|tool|maker|category|value)$"
)
ADDRESSES = re.compile(r"(^|_)(url|uri|link|href|image|homepage|page)$")
PROSE = re.compile(r"[^\W\d_]{2,} [^\W\d_]")
"""Two words: no id, time or choice has them."""
LIVE = (
    "a[href^='javascript:' i], a[href^='data:' i], iframe, object, embed, base, img[src*=evil],"
    " [onerror], [onload], [onclick], [srcdoc], svg > script, body script:not([src])"
)


def poison(given: Any, key: str = "") -> Any:
    """Put the attack into every text of an answer, and in the place of every address."""
    if isinstance(given, dict):
        return {name: poison(each, name) for name, each in given.items()}
    if isinstance(given, list):
        return [poison(each, key) for each in given]
    if not isinstance(given, str) or not given:
        return given
    if ADDRESSES.search(key) and "://" in given:
        return ATTACK
    return given + HOSTILE if NAMES.search(key) or PROSE.search(given) else given


def serve_poisoned(route: Route) -> None:
    """Ask the product, and change what it answers; streams stay as they are."""
    if not re.match(r"/v\d/", urlsplit(route.request.url).path) or route.request.method != "GET":
        route.fallback()
        return
    answer = route.fetch()
    if answer.headers.get("content-type", "").startswith("application/json"):
        route.fulfill(response=answer, json=poison(answer.json()))
    else:
        route.fulfill(response=answer)


@dataclass
class LiveTexts(VisibleTexts):
    """Collects, beside texts, what of the attack became a part of the page that does something."""

    live: list[tuple[str, str]] = field(default_factory=list)

    def read(self, place: str) -> None:
        super().read(place)
        found = self.page.locator(LIVE).evaluate_all("(nodes) => nodes.map((n) => n.outerHTML)")
        self.live += [(place, node) for node in found]


def test_no_text_of_any_view_is_run_linked_or_loaded(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    ran: list[str] = []
    context.expose_function("owned", lambda: ran.append(console.page.url))
    console.page.route("**/*", serve_poisoned)
    texts = LiveTexts(console.page, lambda text: "onerror=" in text, marks="none", inside="none")

    walk(console, context, app_server, texts, "poisoned")

    places = {place for place, _ in texts.found}
    assert (ran, texts.live, console.foreign_requests) == ([], [], [])
    assert len(places) >= 20, sorted(places)
