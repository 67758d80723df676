"""Crisis verdict: what a classifier's reading of a message, or its failure, comes to; pure."""

import re

from shared.domain.chats.crisis import CrisisLevel, CrisisVerdict, Judge
from shared.domain.value import value
from shared.domain.words import stands_in
from shared.safety.crisis_rules import CrisisFinding

_CONTACT: re.Pattern[str] = re.compile(
    r"https?://\S+|(?<![^\s@])[^\s@]+@[^\s@]+\.[^\s@]+|\+?\d(?:[ ()/.-]?\d){5,}"
)
"""Addresses of the net and of mail, and numbers of six digits and more, such as those of phones."""
DOUBTED = CrisisFinding(certainty="unsure")
"""What counts as found where the rules found nothing, and a rating or the examples doubt that."""
DOUBTFUL_DANGER = 0.5
"""Share of serious crises among the examples nearest to a text, as of which a classifier judges it."""
DOUBTFUL_SELF_HARM = 0.1
"""A rating of the danger to a text's writer, 0 to 1, as of which a classifier judges it."""
_COUNTRY = re.compile(r"[A-Z]{2}")
_LANGUAGE = re.compile(r"[a-z]{2}")


@value
class CrisisReading:
    """A classifier's reading of a message, unchecked.

    `quote` are the words it rests on, `place` those by which the writer says where they are.
    """

    level: CrisisLevel
    quote: str = ""
    place: str = ""
    country: str = ""
    language: str = ""


def mask_contacts(text: str) -> str:
    """Replace addresses and long numbers, which no classifier needs to read."""
    return _CONTACT.sub("[…]", text)


def judge_reading(text: str, finding: CrisisFinding, reading: CrisisReading) -> CrisisVerdict:
    """Return the verdict; what a reading says must rest on words that stand in the text.

    One that calls a text harmless against the rules without such words gets the gentle question: a
    text must not talk its classifier out of it.
    """
    level = reading.level
    if not level and finding.level and not stands_in(reading.quote, text):
        level = 1
    is_placed = stands_in(reading.place, text) and _COUNTRY.fullmatch(reading.country)
    return CrisisVerdict(
        level=level,
        decided_by="classifier",
        country=reading.country if is_placed else None,
        language=reading.language if _LANGUAGE.fullmatch(reading.language) else finding.language,
    )


def judge_alone(finding: CrisisFinding) -> CrisisVerdict:
    """Return the verdict where no classifier answered: what speaks of its writer counts as it stands.

    Anything else keeps its answer, with a line that says whom to call.
    """
    decided_by: Judge = "rules" if finding.certainty != "unsure" else "fallback"
    if finding.is_own:
        return CrisisVerdict(level=finding.level, decided_by=decided_by, language=finding.language)
    return CrisisVerdict(decided_by=decided_by, adds_contacts=finding.certainty == "unsure")
