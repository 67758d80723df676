"""Reading output: how a model answers that reads a question, with whatever it answers made a score."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from shared.reading.reading import read_score


def _take_text(value: object) -> str:
    return value if isinstance(value, str) else ""


Score = Annotated[float, BeforeValidator(read_score)]
Doubted = Annotated[bool, BeforeValidator(lambda value: value is not False)]
Words = Annotated[str, BeforeValidator(_take_text)]


class ReadingOutput(BaseModel):
    """Reading of a question: levels of danger, and scores of 0 to 10, of which one that is missing or no number is 0."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    danger: Literal[0, 1, 2, 3]
    danger_of_others: Literal[0, 1, 2, 3] = 0
    is_self_harm: Doubted = True
    quote: Words = ""
    harm: Score = 0.0
    misuse: Score = 0.0
    harm_quote: Words = ""
    injection: Score = 0.0
    place: Words = ""
    country: Words = ""
    language: Words = ""
