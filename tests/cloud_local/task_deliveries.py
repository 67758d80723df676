"""Deliveries of Cloud Tasks: calls each function when its task is due, as the task's account, until it answers well."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from random import Random
from threading import Event, Thread

import httpx
from google.cloud.tasks_v2.types import Task

from shared.adapters.system_clock import SystemClock
from tests.cloud_local.google_tokens import GoogleTokens
from tests.servers.cloud_tasks import FakeCloudTasks, fake_cloud_tasks

PAUSE_S = 0.05
TIMEOUT_S = 600.0
RETRY_AFTER = timedelta(seconds=1)


LATE_SHARE, REPEAT_SHARE = 0.2, 0.25
MAX_FAULT_S = 9.0
AT_ONCE = 8


@contextmanager
def run_cloud_tasks(tokens: GoogleTokens, *, faults: Random | None = None) -> Iterator[str]:
    """Run Cloud Tasks and its deliveries; yield the address of its API.

    With `faults` some tasks come late, and some again after they succeeded.
    """
    stop = Event()
    with (
        fake_cloud_tasks(SystemClock()) as tasks,
        httpx.Client(trust_env=False) as http,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):

        def deliver_until_stopped() -> None:
            while not stop.wait(PAUSE_S):
                for task in tasks.finish_due_tasks():
                    pool.submit(_deliver_or_repeat, task, tasks, tokens, http, faults)

        thread = Thread(target=deliver_until_stopped)
        thread.start()
        try:
            yield tasks.address
        finally:
            stop.set()
            thread.join()


def _deliver_or_repeat(
    task: Task,
    tasks: FakeCloudTasks,
    tokens: GoogleTokens,
    http: httpx.Client,
    faults: Random | None,
) -> None:
    """Deliver a task; schedule it again when it failed, or when a fault is drawn."""
    if faults is not None and faults.random() < LATE_SHARE:
        tasks.schedule_again(task, _draw_pause(faults))
    elif not _deliver(task, tokens, http):
        tasks.schedule_again(task, RETRY_AFTER)
    elif faults is not None and faults.random() < REPEAT_SHARE:
        tasks.schedule_again(task, _draw_pause(faults))


def _draw_pause(faults: Random) -> timedelta:
    return timedelta(seconds=faults.uniform(0, MAX_FAULT_S))


def _deliver(task: Task, tokens: GoogleTokens, http: httpx.Client) -> bool:
    request = task.http_request
    token = tokens.issue(request.oidc_token.service_account_email, request.oidc_token.audience)
    headers = {**request.headers, "Authorization": f"Bearer {token}"}
    try:
        answer = http.post(request.url, content=request.body, headers=headers, timeout=TIMEOUT_S)
    except httpx.HTTPError:
        return False
    return answer.is_success
