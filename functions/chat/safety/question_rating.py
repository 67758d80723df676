"""Rating of a question by a model: what it asks for against others, and what its quoted text attempts; pure.

Scores are 0 to 10. Whatever a model answers becomes a rating: what is no number counts as 0.

Also called: jailbreak detection, abuse detection, harm classification.
"""

from collections.abc import Iterable
from math import isfinite

from shared.domain.chats.safety import Moderation, SafetyThresholds
from shared.domain.value import value

MAX_SCORE = 10.0


@value
class QuestionRating:
    """Scores of a question.

    `harm` for others, `misuse` of the assistant at their cost, `self_harm`: the danger that its writer may be
    in, and `injection`: instructions to the assistant in a text that was quoted. `language` is that of the question (ISO 639-1), empty if unknown.
    `lacked_tokens` tells that a part of it is missing, because the tokens of our users were used up.
    """

    harm: float = 0.0
    misuse: float = 0.0
    self_harm: float = 0.0
    injection: float = 0.0
    language: str = ""
    lacked_tokens: bool = False

    def to_moderation(self) -> Moderation:
        """Return what counts where no moderator rates the question."""
        return Moderation(
            harm=max(self.harm, self.misuse) / MAX_SCORE, self_harm=self.self_harm / MAX_SCORE
        )


def read_score(answer: object) -> float:
    """Return the score that a model gave, within its bounds."""
    if isinstance(answer, bool) or not isinstance(answer, int | float | str):
        return 0.0
    try:
        score = float(answer)
    except (ValueError, OverflowError):
        return 0.0
    return min(max(score, 0.0), MAX_SCORE) if isfinite(score) else 0.0


def merge_ratings(ratings: Iterable[QuestionRating]) -> QuestionRating:
    """Merge the ratings of a question beside each block of what came before: the highest, the last language."""
    merged = QuestionRating()
    for rating in ratings:
        merged = QuestionRating(
            harm=max(merged.harm, rating.harm),
            misuse=max(merged.misuse, rating.misuse),
            self_harm=max(merged.self_harm, rating.self_harm),
            injection=max(merged.injection, rating.injection),
            language=rating.language or merged.language,
            lacked_tokens=merged.lacked_tokens or rating.lacked_tokens,
        )
    return merged


def is_refused(rating: QuestionRating, thresholds: SafetyThresholds) -> bool:
    return rating.harm >= thresholds.harm or rating.misuse >= thresholds.misuse
