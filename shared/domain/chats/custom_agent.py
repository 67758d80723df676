"""Custom agent: instructions, tools and a model by which the assistant answers in some chats; pure.

Also called: custom GPT, custom assistant.
"""

import hashlib
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Literal

from shared.domain.ids import AgentId, UserId
from shared.domain.value import value

MAX_AGENTS = 100
MAX_NAME_CHARS = 60
MAX_DESCRIPTION_CHARS = 500
MAX_INSTRUCTIONS_CHARS = 8_000
MAX_TOOLS = 100
MAX_TOOL_NAME_CHARS = 160
AgentRole = Literal["fast", "standard", "agent"]


@value
class CustomAgent:
    """An agent of its owner. All times in UTC.

    `tools` are the only ones that it may call, None for all. `role` names its model. Its
    `instructions` stand above the latest message, or with `replaces_prompt` in the place of the
    owner's prompt. Those of one that `is_foreign` were written by somebody else, whoever changed
    them since. `picture` is the address of a thumbnail, empty without one. `share_token` is the secret of the link by which others may copy it.
    """

    id: AgentId
    name: str
    instructions: str
    created_at: datetime
    updated_at: datetime
    description: str = ""
    emoji: str = ""
    picture: str = ""
    tools: tuple[str, ...] | None = None
    role: AgentRole = "agent"
    replaces_prompt: bool = False
    is_foreign: bool = False
    share_token: str | None = None

    def allows(self, names: Collection[str]) -> bool:
        """Tell whether it may call the tool that has these names."""
        return self.tools is None or not set(names).isdisjoint(self.tools)


@value
class SharedAgent:
    """A link to an agent. `id` is the secret token in it, 128 random bits."""

    id: str
    uid: UserId
    agent_id: AgentId


def copy_shared_agent(agent: CustomAgent, token: str, uid: UserId, now: datetime) -> CustomAgent:
    """Return an agent as a user gets it by a link; under the same id each time.

    Its picture stays with its owner: the address would tell who that is.
    """
    name = hashlib.sha256(f"{token}/{uid}".encode()).hexdigest()[:32]
    return replace(
        agent,
        id=AgentId(name),
        is_foreign=True,
        picture="",
        share_token=None,
        created_at=now,
        updated_at=now,
    )
