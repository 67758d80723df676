"""Dependencies of letting programs in."""

# Annotations are not evaluated: a process imports what it uses of these, with the first request that does.
from __future__ import annotations

from typing import TYPE_CHECKING

from shared.domain.value import value
from shared.library.deps import LibraryDeps

if TYPE_CHECKING:
    from functions.library.programs.oauth.registrations import ProgramRegistrations


@value
class ProgramDeps(LibraryDeps):
    """What letting programs in needs.

    `egress` fetches what they say of themselves; tokens are derived with `token_key`.
    """

    registrations: ProgramRegistrations
    token_key: bytes
