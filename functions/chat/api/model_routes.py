"""Route of chat models: the models that a question can name."""

from collections.abc import Sequence

from functions.chat.deps import ChatDeps
from shared.domain.chats.custom_agent import AgentRole
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire


class ChatModelOut(Wire):
    """A model that a question can name: its `id` here, and its `name` at its provider."""

    id: AgentRole
    name: str


class ChatModelsOut(Wire):
    """The models to choose from, the one that answers without a choice first."""

    models: Sequence[ChatModelOut]


_ROLES: Sequence[AgentRole] = ("agent", "standard", "fast")


@route("GET", "/v1/chat-models", "List the models that a question can name")
async def list_chat_models(deps: ChatDeps, call: Call) -> ChatModelsOut:  # noqa: ARG001 - a route
    """List each model once: where roles share a model, there is nothing to choose between them."""
    names: dict[str, AgentRole] = {}
    for role in _ROLES:
        names.setdefault(deps.model.name(role), role)
    return ChatModelsOut(models=[ChatModelOut(id=role, name=name) for name, role in names.items()])


ROUTES = (list_chat_models,)
