"""Crisis reading of the offline model: plain statements count, and what speaks of its writer is asked about."""

from collections.abc import Mapping
from typing import Any

from shared.safety.crisis_rules import find_crisis


def judge_crisis(data: Mapping[str, Any]) -> dict[str, Any]:
    """Read a message by the rules alone, which cannot tell an idiom from a cry for help."""
    finding = find_crisis(data["message"])
    level = finding.level if finding.is_plain else int(finding.is_own)
    return {"level": level, "quote": data["message"]}
