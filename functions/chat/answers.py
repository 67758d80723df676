"""What the model is asked for after a turn."""

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    """The base of both; what was not asked for is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class TitleAnswer(Answer):
    """A chat's name."""

    title: str


class SummaryAnswer(Answer):
    """What stands for the older messages of a chat."""

    summary: str
