"""Schemas of shared tasks: links to them, and what a link shows."""

from typing import Annotated

from pydantic import Field

from functions.library.tasks.action_item_schemas import TaskId
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import Utc

MAX_SHARED_TASKS = 20
MAX_TOKEN_CHARS = 100


class TaskShareIn(Wire):
    task_ids: Annotated[list[TaskId], Field(min_length=1, max_length=MAX_SHARED_TASKS)]


class TaskShareOut(Wire):
    """A link; whoever has it reads the tasks until then."""

    url: str
    token: str
    expires_at: Utc


class SharedTaskOut(Wire):
    description: str
    due_at: Utc | None


class SharedTasksOut(Wire):
    """What a link shows: who shares, as far as they gave a name, and what is to be done."""

    sender_name: str | None
    tasks: list[SharedTaskOut]


class AcceptIn(Wire):
    token: Annotated[str, Field(min_length=1, max_length=MAX_TOKEN_CHARS)]


class AcceptedTasksOut(Wire):
    """How many action items were added."""

    count: int
