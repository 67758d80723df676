"""Project: files and chats of one owner that belong together; pure.

Also called: workspace.
"""

from datetime import datetime

from shared.domain.ids import ProjectId
from shared.domain.value import value

MAX_PROJECTS = 100
MAX_PROJECT_FILES = 50
MAX_NAME_CHARS = 100
WHOLE_SHARE = 0.6
"""Files below this share of a model's window are given whole; from it on, they are searched."""


@value
class Project:
    """A project. Its chats name it in `project_id`, its files in `project_ids`."""

    id: ProjectId
    name: str
    created_at: datetime
    updated_at: datetime
