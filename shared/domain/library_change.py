"""Library change: what a tool of a chat changed in the owner's library, so that it can be undone."""

from shared.domain.action_item import ActionItem
from shared.domain.value import value


@value
class LibraryChange:
    """A change of one task.

    `text` says it in one line. `before` is the task as it was, None if the change created it;
    `after` is what undoing expects to find.
    """

    id: str
    text: str
    before: ActionItem | None
    after: ActionItem
    is_undone: bool = False


def describe_change(before: ActionItem | None, after: ActionItem) -> str:
    """Say in one line what was done to a task."""
    if before is None:
        return f"Created the task “{after.description}”"
    if before.completed != after.completed:
        return f"{'Completed' if after.completed else 'Reopened'} the task “{after.description}”"
    return f"Changed the task “{before.description}”"
