"""Bodies of the template routes."""

from typing import Annotated

from pydantic import Field, StringConstraints

from shared.domain.ids import AppId
from shared.edge.declare.app_schemas import AppOut
from shared.edge.declare.schemas import OPTIONAL_ID_PATTERN, Wire

MAX_PROMPT_CHARS = 10_000


class PromptIn(Wire):
    """What a summary should contain, and how it should look."""

    prompt: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_PROMPT_CHARS)
    ]


class SummaryOut(Wire):
    """A summary in Markdown."""

    summary: str


class SuggestedAppsOut(Wire):
    """Installed apps that write summaries."""

    suggested_apps: list[AppOut]


class PreferredAppIn(Wire):
    """Empty: no app is preferred."""

    app_id: Annotated[AppId, Field(pattern=OPTIONAL_ID_PATTERN)] = AppId("")
