"""Caution of a chat whose questions went towards harm for others, in the words that a model reads."""

from datetime import datetime

from shared import prompts
from shared.domain.chats.safety import SafetyScore
from shared.safety.safety_score import find_step


def describe_caution(score: SafetyScore, now: datetime) -> str:
    """Say what to be careful about; empty for a chat that never came to a step."""
    return "" if find_step(score, now) == "none" else prompts.render("chat/caution")
