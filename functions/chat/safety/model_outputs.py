"""Model outputs of the safety of a chat: how a question reads, and what replaces a harmful answer."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from functions.chat.safety.question_rating import read_score


class ModelOutput(BaseModel):
    """Base of the schemas; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class CrisisOutput(ModelOutput):
    """Reading of a question, by which its writer may be in a crisis."""

    level: Literal[0, 1, 2, 3]
    quote: str = ""
    place: str = ""
    country: str = ""
    language: str = ""


def _take_text(value: object) -> str:
    return value if isinstance(value, str) else ""


Score = Annotated[float, BeforeValidator(read_score)]


class RatingOutput(ModelOutput):
    """Rating of a question, 0 to 10 each; what is missing or no number counts as 0."""

    harm: Score = 0.0
    misuse: Score = 0.0
    self_harm: Score = 0.0
    injection: Score = 0.0
    language: Annotated[str, BeforeValidator(_take_text)] = ""


class SafeAnswerOutput(ModelOutput):
    """Another answer in the place of one that could do harm."""

    answer: str
