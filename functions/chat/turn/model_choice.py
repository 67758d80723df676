"""Choice of the model that answers, by rules that read the question, and the reason for it; pure.

The owner's word comes first: the models that a question names, the chat's agent, the profile. Else the
first model of the order answers that takes what came with the question.

Also called: model router, model selection.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from functions.chat.context.budget import compute_budget
from shared.domain.account.profile import PreferredModel
from shared.domain.chats.custom_agent import AgentRole
from shared.domain.models.model import ModelFacts, ModelRole
from shared.domain.value import value

ModelReason = Literal["persona", "question", "agent", "profile", "pictures", "size", "usual"]
"""Who or what decided: a persona's maker, the owner by question, agent or profile, or what came with it."""
ORDER: Sequence[AgentRole] = ("agent", "standard", "fast")
"""The best one first, which answers whatever it takes."""


@value
class ModelChoice:
    """The models that answer, the main one first."""

    roles: Sequence[ModelRole]
    reason: ModelReason


@value
class AskedInput:
    """What a model has to take whole: a question with its files, as `tokens`."""

    tokens: int
    has_pictures: bool = False


def expect_role(named: Sequence[AgentRole]) -> AgentRole:
    """Return who answers in most cases, before anything is read."""
    return named[0] if named else ORDER[0]


def choose_by_owner(
    named: Sequence[AgentRole], agent: AgentRole | None, preferred: PreferredModel
) -> ModelChoice | None:
    """Return what the owner chose, the closest to the question first; None where it is left to us."""
    if named:
        return ModelChoice(roles=named, reason="question")
    if agent is not None:
        return ModelChoice(roles=[agent], reason="agent")
    if preferred != "auto":
        return ModelChoice(roles=[preferred], reason="profile")
    return None


def choose_by_input(asked: AskedInput, describe: Callable[[AgentRole], ModelFacts]) -> ModelChoice:
    """Return the first model that takes the pictures and the size; where none does, the usual one."""
    usual = ORDER[0]
    sees_usual = describe(usual).takes_images or not asked.has_pictures
    if sees_usual and _holds(describe(usual), asked.tokens):
        return ModelChoice(roles=[usual], reason="usual")
    seeing = [role for role in ORDER if describe(role).takes_images or not asked.has_pictures]
    holding = [role for role in seeing if _holds(describe(role), asked.tokens)]
    role = next(iter(holding or seeing), usual)
    if role == usual:
        return ModelChoice(roles=[usual], reason="usual")
    return ModelChoice(roles=[role], reason="size" if sees_usual else "pictures")


def _holds(facts: ModelFacts, tokens: int) -> bool:
    return tokens <= compute_budget(facts.window_tokens, ())
