"""Schemas of the sample library and of suggested questions."""

from shared.edge.declare.schemas import Wire


class SampleLibraryOut(Wire):
    """`conversations` counts those of the sample library, which are processed one after another."""

    conversations: int


class SuggestedQuestionsOut(Wire):
    """Questions that the library can answer, best first; without any, `hint` says what to do first."""

    questions: list[str]
    hint: str | None = None
