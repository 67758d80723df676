"""Safety score of a chat: each question adds its harm, each harmless one and time take from it; pure.

Harm is a rating from 0 to 1 of what a question asks for against others. That its writer is in a crisis
is no harm and never adds to it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from shared.domain.chats.safety import SafetyScore, SafetyStep

WEIGHT = 0.5
"""How much of what is left to 1 the worst question takes."""
KEPT = 0.9
"""What is left of the points with the next question."""
HALF_LIFE = timedelta(days=1)
LOCK_TIME = timedelta(days=1)
STEPS: Sequence[tuple[SafetyStep, float]] = (("review", 0.65), ("slow", 0.5), ("note", 0.3))
LOCKED_FROM = 0.8
ORDINARY_HARM = 0.05
"""A chat whose questions are all rated lower never reaches a step, however long it goes on."""

NEGLIGIBLE = 0.01
"""Points and ratings below it are not worth a write."""


def compute_points(score: SafetyScore, now: datetime) -> float:
    """Return the points that time has left."""
    if score.rated_at is None:
        return 0.0
    elapsed = max(now - score.rated_at, timedelta())
    return float(score.points * 0.5 ** (elapsed / HALF_LIFE))


def add_harm(score: SafetyScore, harm: float, now: datetime) -> SafetyScore:
    """Return the score after one more question; more harm never gives a lower one."""
    left = KEPT * compute_points(score, now)
    points = 1 - (1 - left) * (1 - WEIGHT * min(max(harm, 0.0), 1.0))
    is_reached = points >= LOCKED_FROM
    return SafetyScore(
        points=points,
        rated_at=now,
        locked_until=now + LOCK_TIME if is_reached else score.locked_until,
    )


def is_worth_keeping(score: SafetyScore, harm: float, now: datetime) -> bool:
    """Tell whether a question changes the score of its chat by more than nothing."""
    return max(harm, compute_points(score, now)) >= NEGLIGIBLE


def find_step(score: SafetyScore, now: datetime) -> SafetyStep:
    """Return the highest step that holds now; a lock ends by itself."""
    if score.locked_until is not None and now < score.locked_until:
        return "locked"
    points = compute_points(score, now)
    return next((step for step, least in STEPS if points >= least), "none")


def calls_for_review(before: SafetyStep, after: SafetyStep) -> bool:
    """Tell whether a question brought its chat to a step of which an operator is told."""
    return after != before and after in ("review", "locked")
