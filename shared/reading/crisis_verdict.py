"""Crisis verdict: what a reading of a question, or its failure, comes to; pure."""

import re

from shared.data.search.question_meaning import UNMEASURED, QuestionMeaning
from shared.domain.chats.crisis import CrisisLevel, CrisisVerdict, Judge
from shared.reading.crisis_rules import CrisisFinding
from shared.reading.reading import Reading
from shared.retrieval.passages import stands_in_words

_CONTACT: re.Pattern[str] = re.compile(
    r"https?://\S+|(?<![^\s@])[^\s@]+@[^\s@]+\.[^\s@]+|\+?\d(?:[ ()/.-]?\d){5,}"
)
"""Addresses of the net and of mail, and numbers of six digits and more, such as those of phones."""
DOUBTFUL_DANGER = 0.59
"""How much a text leans to the examples of people in danger as of which people to call are named beside its answer."""
PLAIN_DANGER = 0.72
"""The same as of which the plan is the answer, unless a reading says otherwise."""
DOUBTFUL_SELF_HARM = 0.1
"""A moderator's rating of the danger to a text's writer, 0 to 1, that counts as a doubt."""
DOUBTED = CrisisFinding(certainty="unsure")
_COUNTRY = re.compile(r"[A-Z]{2}")
_LANGUAGE = re.compile(r"[a-z]{2}")


def mask_contacts(text: str) -> str:
    """Replace addresses and long numbers, which nobody needs to read who judges a text."""
    return _CONTACT.sub("[…]", text)


def add_danger(finding: CrisisFinding, meaning: QuestionMeaning | None) -> CrisisFinding:
    """Return the graver of what the rules found and how much a text leans to people in danger."""
    if meaning is None or finding.certainty == "certain":
        return finding
    if meaning is UNMEASURED:
        return finding if finding.is_suspected else CrisisFinding(certainty="unknown")
    if meaning.danger < DOUBTFUL_DANGER:
        return finding
    level: CrisisLevel = 2 if meaning.danger >= PLAIN_DANGER else 0
    return CrisisFinding(
        certainty="unsure",
        level=max(finding.level, level),
        language=finding.language or meaning.language,
    )


def judge_reading(text: str, finding: CrisisFinding, reading: Reading) -> CrisisVerdict:
    """Return the verdict; what a reading says must rest on words that stand in the text.

    One that calls a doubted text harmless without such words gets the gentle question: a text must not talk its
    reader out of it. Whoever is beside a person in danger is told whom to call; where that is acute, by the plan.
    """
    level: CrisisLevel = reading.danger
    if reading.danger_of_others == 3:
        level = 3
    is_doubted = finding.certainty == "unsure"
    if not level and not reading.danger_of_others and is_doubted:
        level = 0 if stands_in_words(reading.quote, text) else 1
    is_placed = stands_in_words(reading.place, text) and _COUNTRY.fullmatch(reading.country)
    return CrisisVerdict(
        level=level,
        decided_by="classifier",
        country=reading.country if is_placed else finding.country,
        language=reading.language if _LANGUAGE.fullmatch(reading.language) else finding.language,
        is_self_harm=reading.is_self_harm and reading.danger >= reading.danger_of_others,
        adds_contacts=level < 2 and reading.danger_of_others >= 2,
    )


def judge_alone(finding: CrisisFinding) -> CrisisVerdict:
    """Return the verdict where nobody read the text: a level counts as it stands, a doubt names whom to call."""
    is_open = finding.certainty in ("unknown", "unsure")
    decided_by: Judge = "fallback" if is_open else "rules"
    return CrisisVerdict(
        level=finding.level,
        decided_by=decided_by,
        country=finding.country,
        language=finding.language,
        adds_contacts=is_open and not finding.level,
    )
