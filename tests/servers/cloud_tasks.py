"""Cloud Tasks on loopback: creates tasks over gRPC as the service documents it, one a name."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import grpc
from google.cloud.tasks_v2.types import CreateTaskRequest, Task

from shared.ports import Clock

QUEUE = "projects/demo/locations/us-central1/queues/keepsake"
NAME_PATTERN = re.compile(rf"({QUEUE}(?:-\d+)?)/tasks/[A-Za-z0-9_-]{{1,500}}")
NAME_TTL = timedelta(hours=24)
MAX_DELAY = timedelta(days=30)


@dataclass
class FakeCloudTasks:
    """Pending tasks by name with the time at which each is due, and the time at which each name was done.

    `failure` refuses all.
    """

    clock: Clock
    pending: dict[str, tuple[datetime, Task]] = field(default_factory=dict)
    end_times: dict[str, Any] = field(default_factory=dict)
    failure: grpc.StatusCode | None = None
    address: str = ""

    def finish_due_tasks(self) -> list[Task]:
        """Finish due tasks, as if each target had succeeded."""
        now = self.clock.now()
        due = [name for name, (time, _) in list(self.pending.items()) if time <= now]
        self.end_times |= dict.fromkeys(due, now)
        return [self.pending.pop(name)[1] for name in due]

    def schedule_again(self, task: Task, after: timedelta) -> None:
        """Put a task back that was finished."""
        self.pending[task.name] = self.clock.now() + after, task

    def create(self, request: CreateTaskRequest, context: grpc.ServicerContext) -> Task:
        task = request.task
        if self.failure:
            context.abort(self.failure, "as the test wants it")
        match = NAME_PATTERN.fullmatch(task.name)
        if match is None or match[1] != request.parent:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the name is malformed")
        if self._is_name_used(task.name):
            context.abort(grpc.StatusCode.ALREADY_EXISTS, "Requested entity already exists")
        now = self.clock.now()
        time = task.schedule_time if "schedule_time" in task else now
        if time > now + MAX_DELAY:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "too far in the future")
        self.pending[task.name] = time, task
        return task

    def _is_name_used(self, name: str) -> bool:
        end_time = self.end_times.get(name)
        return name in self.pending or (
            end_time is not None and self.clock.now() < end_time + NAME_TTL
        )


@contextmanager
def fake_cloud_tasks(clock: Clock) -> Iterator[FakeCloudTasks]:
    tasks = FakeCloudTasks(clock)
    method = grpc.unary_unary_rpc_method_handler(
        tasks.create,
        request_deserializer=CreateTaskRequest.deserialize,
        response_serializer=Task.serialize,
    )
    server = grpc.server(ThreadPoolExecutor(max_workers=1))
    server.add_generic_rpc_handlers(
        [
            grpc.method_handlers_generic_handler(
                "google.cloud.tasks.v2.CloudTasks", {"CreateTask": method}
            )
        ]
    )
    tasks.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield tasks
    finally:
        server.stop(grace=None).wait()
