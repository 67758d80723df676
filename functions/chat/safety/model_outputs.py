"""Model output of the safety of a chat: what replaces a harmful answer."""

from pydantic import BaseModel, ConfigDict


class SafeAnswerOutput(BaseModel):
    """Another answer in the place of one that could do harm."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    answer: str
