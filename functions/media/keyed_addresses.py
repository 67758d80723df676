"""Keyed addresses: whoever has one may load what it names, as the released app does without a token.

Also called: signed URLs.
"""

import hmac
from typing import Annotated

from pydantic import Field

from shared.domain.errors import NotFound
from shared.domain.ids import UserId, is_id
from shared.edge.declare.schemas import Wire


class KeyedAddress(Wire):
    """Whose the thing is, and the key of its address."""

    owner: Annotated[str, Field(max_length=128)]
    key: Annotated[str, Field(max_length=128)]

    def find_owner(self, not_found: str) -> UserId:
        """Raises NotFound with these words for what would lead elsewhere."""
        if not is_id(self.owner):
            raise NotFound(not_found)
        return UserId(self.owner)

    def has_key(self, key: str) -> bool:
        """Tell whether it has the stored key; an empty one lets nobody in."""
        return bool(key) and hmac.compare_digest(key.encode(), self.key.encode())
