"""Icons of the installed console: `python -m infra.local.icons` writes web/icons/*.png from favicon.svg."""

import sys
from pathlib import Path

from playwright.sync_api import Browser

from infra.emulators.process import CannotRunError
from infra.local.browser import run_chromium

WEB = Path(__file__).parents[2] / "web"
ICONS = WEB / "icons"
SIZES = (192, 512)
BACKGROUND = "#2c6a5f"
FILLED = {"180": 180, "maskable-512": 512}
"""Phones cut these into their own shape, so the ground reaches every edge."""


def main() -> int:
    try:
        with run_chromium() as browser:
            write_icons(browser)
    except CannotRunError as error:
        print(f"icons: {error}", file=sys.stderr)
        return 1
    return 0


def write_icons(browser: Browser) -> None:
    ICONS.mkdir(exist_ok=True)
    for size in SIZES:
        _draw(browser, ICONS / f"{size}.png", size, ground="transparent")
    for name, size in FILLED.items():
        _draw(browser, ICONS / f"{name}.png", size, ground=BACKGROUND)


def _draw(browser: Browser, path: Path, size: int, *, ground: str) -> None:
    page = browser.new_page(viewport={"width": size, "height": size})
    svg = (WEB / "favicon.svg").read_text()
    page.set_content(
        f"<style>body {{ margin: 0; background: {ground} }} svg {{ display: block }}</style>{svg}"
    )
    page.screenshot(path=path, omit_background=True)
    page.close()


if __name__ == "__main__":
    sys.exit(main())
