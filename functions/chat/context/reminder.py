"""Reminder of a cycle: the one message after everything else, or none."""

from collections.abc import Sequence

from shared import prompts
from shared.domain.models.model import UserText


def build_reminder(
    owner_text: str, warning: str, *, searched: bool, is_last: bool
) -> Sequence[UserText]:
    """Return one message with the owner's reminder, a warning and ours.

    `searched` says that there are documents to cite; `is_last` that no further call is possible.
    """
    parts = [
        owner_text,
        warning,
        prompts.render("chat/citation_reminder") if searched else "",
        prompts.render("chat/last_cycle") if is_last else "",
    ]
    text = "\n\n".join(filter(None, parts))
    if not text:
        return []
    return [UserText(text=prompts.render("chat/reminder", text=text), is_fleeting=True)]
