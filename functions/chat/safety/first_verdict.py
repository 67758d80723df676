"""First verdict on a question, before any model is asked: by rules, examples and the chat before it."""

from collections.abc import Sequence
from itertools import islice

from shared.domain.chats.chat import Message
from shared.domain.chats.crisis import CLEAR, CrisisVerdict
from shared.reading.crisis_rules import CrisisFinding
from shared.reading.crisis_verdict import DOUBTED, judge_alone
from shared.safety.crisis_plan import read_language

WATCHED_ANSWERS = 8
"""For so many answers after a crisis, whatever its writer says is judged."""


def find_in_chat(finding: CrisisFinding, newest_first: Sequence[Message]) -> CrisisFinding:
    """Doubt whatever is said soon after a crisis, also one that was found after its answer."""
    is_watched = any(answer.crisis_level >= 2 for answer in _list_watched(newest_first))
    return DOUBTED if is_watched and not finding.is_suspected else finding


def judge_question(finding: CrisisFinding, newest_first: Sequence[Message]) -> CrisisVerdict | None:
    """Return the verdict where rules and examples suffice; None where a reading has to judge.

    A country that follows the question for it brings the numbers of that country.
    """
    answers = _list_watched(newest_first)
    if finding.certainty == "certain":
        return judge_alone(finding)
    if answers and answers[0].route == "crisis" and finding.country is not None:
        return CrisisVerdict(
            level=answers[0].crisis_level,
            country=finding.country,
            language=finding.language or read_language(answers[0].text),
        )
    return CLEAR if finding.certainty == "clear" else None


def _list_watched(newest_first: Sequence[Message]) -> list[Message]:
    return list(islice((m for m in newest_first if m.sender == "ai"), WATCHED_ANSWERS))
