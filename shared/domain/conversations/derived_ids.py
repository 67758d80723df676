"""Derived ids: the same text of the same conversation always has the same id."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from shared.domain.conversations.conversation import ExtractedItem
from shared.domain.ids import ActionItemId, ConversationId
from shared.domain.value import value
from shared.domain.words import normalise


def build_derived_id(conversation_id: str, kind: str, text: str) -> str:
    """Hash the normal form: a redelivery writes the same document again and not a second one."""
    key = f"{conversation_id}\n{kind}\n{normalise(text)}"
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def build_action_item_id(conversation_id: str, description: str) -> ActionItemId:
    return ActionItemId(build_derived_id(conversation_id, "action_item", description))


@value
class DerivedIds:
    """The ids of what is derived from a conversation, `conversation_ids` being its own and its sources'.

    `kept` are ids that came along in a merge, because the owner changed or deleted what has them: the
    same words have the same id again.
    """

    conversation_ids: tuple[ConversationId, ...]
    kept: frozenset[str] = frozenset()

    def choose(self, kind: str, text: str) -> str:
        ids = [build_derived_id(name, kind, text) for name in self.conversation_ids]
        return next((derived_id for derived_id in ids if derived_id in self.kept), ids[0])

    def identify(self, items: Iterable[ExtractedItem]) -> tuple[ExtractedItem, ...]:
        """Give each item the id of its task."""
        return tuple(
            replace(item, id=ActionItemId(self.choose("action_item", item.description)))
            for item in items
        )


def identify_items(
    conversation_id: str, items: Iterable[ExtractedItem]
) -> tuple[ExtractedItem, ...]:
    """Give each item the id of its task; those that were stored without one get it by their words."""
    return tuple(
        item
        if item.id
        else replace(item, id=build_action_item_id(conversation_id, item.description))
        for item in items
    )
