"""Schemas of custom agents: what their owners send and read; all times in UTC."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from functions.chat.api.prompt_texts import IN_ONE_LINE, NOT_EMPTY, WITH_LINE_BREAKS
from shared.domain.chats.custom_agent import (
    MAX_DESCRIPTION_CHARS,
    MAX_INSTRUCTIONS_CHARS,
    MAX_NAME_CHARS,
    MAX_TOOL_NAME_CHARS,
    MAX_TOOLS,
    AgentRole,
    CustomAgent,
)
from shared.edge.declare.common_schemas import PageQuery
from shared.edge.declare.schemas import OPTIONAL_ID_PATTERN, Wire

MAX_AGENT_BYTES = 131_072
AgentName = Annotated[str, Field(max_length=MAX_NAME_CHARS), IN_ONE_LINE, NOT_EMPTY]
Description = Annotated[str, Field(max_length=MAX_DESCRIPTION_CHARS), WITH_LINE_BREAKS]
Instructions = Annotated[str, Field(max_length=MAX_INSTRUCTIONS_CHARS), WITH_LINE_BREAKS, NOT_EMPTY]
Emoji = Annotated[str, Field(max_length=16), IN_ONE_LINE]
PictureFileId = Annotated[str, Field(pattern=OPTIONAL_ID_PATTERN)]
ToolName = Annotated[str, Field(min_length=1, max_length=MAX_TOOL_NAME_CHARS)]
ToolNames = Annotated[list[ToolName], Field(max_length=MAX_TOOLS)]


class AgentIn(Wire):
    """A new agent.

    `tools` are the only ones that it may call, null for all: one of ours by its name, another as
    `app:ID/NAME` or `service:ID/NAME`. `picture_file_id` names one of its owner's files, a picture. With `replaces_prompt` its instructions take the place of the
    owner's prompt; else they stand above the latest message.
    """

    name: AgentName
    instructions: Instructions
    description: Description = ""
    emoji: Emoji = ""
    picture_file_id: PictureFileId | None = None
    tools: ToolNames | None = None
    role: AgentRole = "agent"
    replaces_prompt: bool = False


class AgentChangeIn(Wire):
    """Fields left out keep their value, and so do nulls; but null as `tools` allows all of them.

    An empty `picture_file_id` takes the picture away.
    """

    name: AgentName | None = None
    instructions: Instructions | None = None
    description: Description | None = None
    emoji: Emoji | None = None
    picture_file_id: PictureFileId | None = None
    tools: ToolNames | None = None
    role: AgentRole | None = None
    replaces_prompt: bool | None = None


class SharedAgentOut(Wire):
    """An agent as a link shows it before it is added; `picture` is an address here, or empty."""

    name: str
    description: str
    instructions: str
    emoji: str
    picture: str
    tools: list[str] | None
    role: AgentRole
    replaces_prompt: bool


class AgentOut(SharedAgentOut):
    """An agent. The instructions of one that `is_foreign` were written by somebody else.

    `share_token` is that of the link by which others may copy it.
    """

    id: str
    created_at: datetime
    updated_at: datetime
    is_foreign: bool
    share_token: str | None


class AgentPageOut(Wire):
    """A page of agents, newest first; `next` is the cursor of the following one."""

    items: list[AgentOut]
    next: str | None


class AgentsQuery(PageQuery):
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class AgentLinkIn(Wire):
    """The token of a link to an agent."""

    token: Annotated[str, Field(min_length=1, max_length=64)]


def to_agent_out(agent: CustomAgent) -> AgentOut:
    return AgentOut.model_validate(agent)
