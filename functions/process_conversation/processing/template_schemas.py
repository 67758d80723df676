"""Bodies of the template routes."""

from typing import Annotated

from pydantic import Field, StringConstraints

from shared.domain.ids import AppId
from shared.edge.declare.app_schemas import AppOut
from shared.edge.declare.schemas import OPTIONAL_ID_PATTERN, Wire

MAX_NAME_CHARS = 200
MAX_PROMPT_CHARS = 10_000


class PromptIn(Wire):
    """What a summary should contain, and how it should look."""

    prompt: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_PROMPT_CHARS)
    ]


class AppIdeaIn(Wire):
    """An app that its maker describes: in a few words, or by its prompt."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_NAME_CHARS)] = ""
    description: Annotated[str, StringConstraints(max_length=MAX_PROMPT_CHARS)] = ""
    prompt: Annotated[str, StringConstraints(max_length=MAX_PROMPT_CHARS)] = ""


class AppDescriptionOut(Wire):
    """What others read of an app; the sign is the one that the app itself falls back to."""

    description: str
    emoji: str = "✨"


class SummaryOut(Wire):
    """A summary in Markdown."""

    summary: str


class SuggestedAppsOut(Wire):
    """Installed apps that write summaries."""

    suggested_apps: list[AppOut]


class PreferredAppIn(Wire):
    """Empty: no app is preferred."""

    app_id: Annotated[AppId, Field(pattern=OPTIONAL_ID_PATTERN)] = AppId("")
