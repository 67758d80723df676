"""Cloud Scheduler on loopback: calls each minute what the table of calls names, as the account of its row."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Event, Thread

import httpx

from infra.local.routing import load_service_calls
from tests.cloud_local.google_tokens import GoogleTokens

PERIOD_S = 60.0
TIMEOUT_S = 180.0
"""The deadline of an attempt, as Terraform sets it."""


@contextmanager
def run_scheduler(
    tokens: GoogleTokens, urls: Mapping[str, str], *, period_s: float = PERIOD_S
) -> Iterator[None]:
    """Call until the block is left; a call that fails is made again in the next minute."""
    stop = Event()
    rows = [row for row in load_service_calls().rows if row.via == "schedule"]
    assert all(row.caller == "* * * * *" for row in rows), "other schedules are not played here"

    def call_until_stopped() -> None:
        with httpx.Client(trust_env=False, timeout=TIMEOUT_S) as http:
            while not stop.wait(period_s):
                for row in rows:
                    token = tokens.issue(tokens.to_email(row.account), row.function)
                    headers = {"Authorization": f"Bearer {token}"}
                    with suppress(httpx.HTTPError):
                        http.post(urls[row.function], headers=headers)

    thread = Thread(target=call_until_stopped)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
