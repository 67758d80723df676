"""Reading of a question by a model: who may be in danger, what harm it asks for, what its quoted text attempts; pure.

Scores are 0 to 10. Whatever a model answers becomes a score: what is no number counts as 0.

Also called: crisis classifier, jailbreak detection, abuse detection, harm classification.
"""

from collections.abc import Sequence
from math import isfinite

from shared.domain.chats.crisis import CrisisLevel
from shared.domain.chats.safety import Moderation, SafetyThresholds
from shared.domain.value import value
from shared.retrieval.passages import stands_in_words

MAX_SCORE = 10.0


@value
class Reading:
    """A model's reading of a question, unchecked.

    `danger` is that of its writer, which `is_self_harm` where they may hurt themselves; `danger_of_others` that of people beside them, or by their hand.
    `quote` are the words on which these rest, `harm_quote` those of `harm` for others and `misuse` of the assistant at
    their cost. `injection`: instructions to the assistant in a text that was quoted. `place`: the words by which the writer
    says where they are, in `country` (ISO 3166). `language` is that of the question (ISO 639-1), empty if unknown.
    """

    danger: CrisisLevel = 0
    danger_of_others: CrisisLevel = 0
    is_self_harm: bool = True
    quote: str = ""
    harm: float = 0.0
    misuse: float = 0.0
    harm_quote: str = ""
    injection: float = 0.0
    place: str = ""
    country: str = ""
    language: str = ""

    def to_moderation(self) -> Moderation:
        """Return what counts where no moderator rates the question."""
        return Moderation(harm=max(self.harm, self.misuse) / MAX_SCORE)


def read_score(answer: object) -> float:
    """Return the score that a model gave, within its bounds."""
    if isinstance(answer, bool) or not isinstance(answer, int | float | str):
        return 0.0
    try:
        score = float(answer)
    except (ValueError, OverflowError):
        return 0.0
    return min(max(score, 0.0), MAX_SCORE) if isfinite(score) else 0.0


def merge_readings(readings: Sequence[Reading]) -> Reading:
    """Merge the readings of the parts of a long question: the gravest of each, with its words."""
    gravest = max(readings, key=lambda each: (max(each.danger, each.danger_of_others), each.quote))
    danger = max(each.danger for each in readings)
    most_harmful = max(readings, key=lambda each: max(each.harm, each.misuse))
    placed = next((each for each in readings if each.place), gravest)
    return Reading(
        danger=danger,
        danger_of_others=max(each.danger_of_others for each in readings),
        is_self_harm=any(each.is_self_harm for each in readings if each.danger == danger),
        quote=gravest.quote,
        harm=most_harmful.harm,
        misuse=most_harmful.misuse,
        harm_quote=most_harmful.harm_quote,
        injection=max(each.injection for each in readings),
        place=placed.place,
        country=placed.country,
        language=next((each.language for each in reversed(readings) if each.language), ""),
    )


def asks_for_harm(reading: Reading, text: str, thresholds: SafetyThresholds) -> bool:
    """Tell whether a reading would refuse a question, and quotes why."""
    is_harmful = reading.harm >= thresholds.harm or reading.misuse >= thresholds.misuse
    return is_harmful and stands_in_words(reading.harm_quote, text)
