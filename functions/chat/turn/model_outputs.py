"""What the model is asked for after a turn."""

from pydantic import BaseModel, ConfigDict


class ModelOutput(BaseModel):
    """The base of both; what was not asked for is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class TitleOutput(ModelOutput):
    """A chat's name."""

    title: str


class SummaryOutput(ModelOutput):
    """What stands for the older messages of a chat."""

    summary: str
