"""Deliveries of Cloud Tasks: calls each function when its task is due, as the task's account, until it answers well."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread

import httpx
from google.cloud.tasks_v2.types import Task

from shared.adapters.system_clock import SystemClock
from tests.cloud_local.google_tokens import GoogleTokens
from tests.servers.cloud_tasks import FakeCloudTasks, fake_cloud_tasks

PAUSE_S = 0.05
TIMEOUT_S = 600.0
RETRY_AFTER = timedelta(seconds=1)


@contextmanager
def run_cloud_tasks(tokens: GoogleTokens) -> Iterator[str]:
    """Run Cloud Tasks and its deliveries; yield the address of its API."""
    stop = Event()
    with fake_cloud_tasks(SystemClock()) as tasks, httpx.Client(trust_env=False) as http:
        thread = Thread(target=_deliver_until, args=(stop, tasks, tokens, http))
        thread.start()
        try:
            yield tasks.address
        finally:
            stop.set()
            thread.join()


def _deliver_until(
    stop: Event, tasks: FakeCloudTasks, tokens: GoogleTokens, http: httpx.Client
) -> None:
    while not stop.wait(PAUSE_S):
        for task in tasks.finish_due_tasks():
            if not _deliver(task, tokens, http):
                task.schedule_time = SystemClock().now() + RETRY_AFTER
                tasks.pending_tasks.append(task)


def _deliver(task: Task, tokens: GoogleTokens, http: httpx.Client) -> bool:
    request = task.http_request
    token = tokens.issue(request.oidc_token.service_account_email, request.oidc_token.audience)
    headers = {**request.headers, "Authorization": f"Bearer {token}"}
    try:
        answer = http.post(request.url, content=request.body, headers=headers, timeout=TIMEOUT_S)
    except httpx.HTTPError:
        return False
    return answer.is_success
