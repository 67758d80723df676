"""The model of one user: it reads their private data only if they want that."""

from typing import Protocol

from shared.data.stores import Stores
from shared.domain.ids import UserId
from shared.domain.models.model import Urgency
from shared.ports import ChatModel, Models


class ModelDeps(Protocol):
    """The part of an entry point's dependencies that asking a model needs."""

    @property
    def model(self) -> Models: ...
    @property
    def stores(self) -> Stores: ...


async def load_model(
    deps: ModelDeps, uid: UserId, *, chat: str = "", urgency: Urgency = "now"
) -> ChatModel:
    """Return the models for a user's words, of one chat if they belong to one, as the user wants it."""
    profile = await deps.stores.profiles.get(uid)
    return deps.model.for_user(
        uid, is_masked=profile.masks_private_data, chat=chat, urgency=urgency
    )
