"""Focus mode: what the owner wants the assistant to keep to in a chat, until they end it; pure."""

from collections.abc import Callable
from dataclasses import replace

from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import FocusModeId
from shared.domain.value import value

MAX_FOCUS_MODES = 20
MAX_NAME_CHARS = 60
MAX_INSTRUCTIONS_CHARS = 2_000


@value
class FocusMode:
    """A saved mode. A chat names the one that is active in it."""

    id: FocusModeId
    name: str
    instructions: str

    @property
    def key(self) -> str:
        """The name without case, by which people and models mean it."""
        return self.name.casefold()


FocusModes = tuple[FocusMode, ...]
FocusModesChange = Callable[[FocusModes], FocusModes]


def add_mode(modes: FocusModes, mode: FocusMode) -> FocusModes:
    """Add a mode; one with the same name and text is there already. Raises Conflict."""
    for known in modes:
        if known.key == mode.key:
            if known.instructions == mode.instructions:
                return modes
            raise Conflict(f"You have another focus mode named “{known.name}”.")
    if len(modes) >= MAX_FOCUS_MODES:
        raise Conflict(f"You may have {MAX_FOCUS_MODES} focus modes; delete one first.")
    return (*modes, mode)


def change_mode(
    modes: FocusModes, mode_id: str, *, name: str | None, instructions: str | None
) -> FocusModes:
    """Change a mode; None leaves a field as it is. Raises NotFound and Conflict."""
    mode = get_mode(modes, mode_id)
    changed = replace(
        mode,
        name=mode.name if name is None else name,
        instructions=mode.instructions if instructions is None else instructions,
    )
    if any(other.key == changed.key for other in modes if other is not mode):
        raise Conflict(f"You have another focus mode named “{changed.name}”.")
    return tuple(changed if other is mode else other for other in modes)


def remove_mode(modes: FocusModes, mode_id: str) -> FocusModes:
    """Raises NotFound."""
    mode = get_mode(modes, mode_id)
    return tuple(other for other in modes if other is not mode)


def get_mode(modes: FocusModes, mode_id: str) -> FocusMode:
    """Raises NotFound."""
    for mode in modes:
        if mode.id == mode_id:
            return mode
    raise NotFound("Focus mode not found")


def find_mode_by_name(modes: FocusModes, name: str) -> FocusMode | None:
    key = " ".join(name.split()).casefold()
    return next((mode for mode in modes if mode.key == key), None)
