"""Library change: what a tool of a chat changed in the owner's library, so that it can be undone."""

from shared.domain.conversations.daily_summary import NOON, DailySummarySettings
from shared.domain.memories.memory import Memory
from shared.domain.tasks.action_item import ActionItem
from shared.domain.value import value

LibraryItem = ActionItem | Memory | DailySummarySettings


@value
class LibraryChange:
    """A change of one task, of one memory, or of when daily summaries are made.

    `text` says it in one line. `before` is what was there, None if the change created it; `after` is
    what undoing expects to find.
    """

    id: str
    text: str
    before: LibraryItem | None
    after: LibraryItem
    is_undone: bool = False


def describe_change(before: ActionItem | None, after: ActionItem) -> str:
    """Say in one line what was done to a task."""
    if before is None:
        return f"Created the task “{after.description}”"
    if before.completed != after.completed:
        return f"{'Completed' if after.completed else 'Reopened'} the task “{after.description}”"
    return f"Changed the task “{before.description}”"


def describe_settings(settings: DailySummarySettings) -> str:
    """Say in one line when daily summaries are made."""
    if not settings.enabled:
        return "Daily summaries are off"
    when = "of the same day" if settings.hour >= NOON else "of the next morning"
    return f"Daily summaries come at {settings.hour:02}:00 {when}"
