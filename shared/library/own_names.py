"""Own names: when the owner says by which names transcripts call them, stored conversations follow."""

from shared.domain.conversations.speaker_labels import is_name
from shared.domain.errors import Invalid
from shared.domain.ids import UserId
from shared.library.deps import LibraryDeps
from shared.library.own_names_schedule import schedule_marking


async def add_own_name(deps: LibraryDeps, uid: UserId, name: str) -> None:
    """Add a name to the owner's own ones, and let all conversations follow.

    Raises Invalid for a label, and where there are too many.
    """
    if not is_name(name):
        raise Invalid("This speaker has no name in the transcript to keep.")
    profile = await deps.stores.profiles.add_own_name(uid, name, now=deps.clock.now())
    await schedule_marking(deps.tasks, uid, profile)
