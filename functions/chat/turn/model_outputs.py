"""Model outputs after a turn: summaries of a chat and of what an answer's calls found."""

from pydantic import BaseModel, ConfigDict


class SummaryModel(BaseModel):
    """Base of the schemas; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class SummaryOutput(SummaryModel):
    """Summary that replaces the older messages of a chat."""

    summary: str


class ResultSummary(SummaryModel):
    """What one call found."""

    number: int
    summary: str


class ResultSummariesOutput(SummaryModel):
    """Summaries that replace the results of an answer's calls, by the numbers of the calls."""

    results: list[ResultSummary]
