"""Chromium for the console's tests and pictures: Debian's, without requests to the outside."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Playwright, sync_playwright

from infra.emulators.process import CannotRunError, find_free_port, run_server

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LIGHT_BROWSERS = ("chromium-headless-shell", *BROWSERS)
"""The first has no windows: a page costs it a third less, but it takes no pushes and installs no page."""
DISABLED_FEATURES = (
    # Each new window would load two pages of the address bar: as much work as the console itself.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    # Of Playwright's own list, which this one replaces: requests to the outside, and what a test would wait for.
    "AimEnabled",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--process-per-site",  # a second page finds what the first has compiled
    "--disable-quic",
    f"--disable-features={','.join(DISABLED_FEATURES)}",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-fake-device-for-media-stream",  # a microphone that beeps
    "--use-fake-ui-for-media-stream",
)


@contextmanager
def run_chromium() -> Iterator[Browser]:
    """Start the first browser found on the PATH. Raises CannotRunError."""
    with sync_playwright() as playwright, launch_chromium(playwright, BROWSERS) as browser:
        yield browser


@contextmanager
def launch_chromium(playwright: Playwright, names: Sequence[str]) -> Iterator[Browser]:
    """Start the first of these on the PATH. Raises CannotRunError."""
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        raise CannotRunError(f"none of {', '.join(names)} is on the PATH")
    browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
    yield browser
    browser.close()


@contextmanager
def run_product(folder: Path, **settings: str) -> Iterator[str]:
    """Serve the whole product, without a key, on data in `folder`; yields its origin."""
    port = find_free_port()
    variables = {"PORT": str(port), "DATA_DIR": str(folder / "data"), "PYTHONPATH": ".", **settings}
    environment = [f"{name}={value}" for name, value in variables.items()]
    command = ["env", "-u", "OPENAI_API_KEY", *environment, sys.executable, "-m", "infra.local"]
    with run_server(command, port=port, log=folder / "product.log") as address:
        yield f"http://{address}"
