"""Shared models: those that tell their users apart, so that what one of them provokes stops no other."""

from typing import Protocol, runtime_checkable

from shared.domain.ids import UserId
from shared.ports import ChatModel


@runtime_checkable
class SharedModel(Protocol):
    """A model that many users ask."""

    def for_asker(self, uid: UserId) -> ChatModel:
        """Return the model as one user asks it."""


def ask_as(model: ChatModel, uid: UserId) -> ChatModel:
    """Return a model as one user asks it, where it tells users apart."""
    return model.for_asker(uid) if isinstance(model, SharedModel) else model
