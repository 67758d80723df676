"""Schemas of the sample library and of suggested questions."""

from pydantic import Field

from shared.edge.declare.schemas import Wire


class SampleLibraryQuery(Wire):
    """`years` adds a year of talks before the month: three hundred, made by rules."""

    years: int = Field(default=0, ge=0, le=1)


class SampleLibraryOut(Wire):
    """`conversations` counts those of the sample library, which are processed one after another."""

    conversations: int


class SuggestedQuestionsOut(Wire):
    """Questions that the library can answer, best first; without any, `hint` says what to do first."""

    questions: list[str]
    hint: str | None = None
