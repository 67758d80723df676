"""Routes of custom agents: create, list, read, change, delete and share them."""

from starlette.responses import Response

from functions.chat.api.agent_schemas import (
    MAX_AGENT_BYTES,
    AgentChangeIn,
    AgentIn,
    AgentLinkIn,
    AgentOut,
    AgentPageOut,
    AgentsQuery,
    SharedAgentOut,
    to_agent_out,
)
from functions.chat.deps import ChatDeps
from shared.domain.chats.custom_agent import CustomAgent
from shared.domain.errors import Invalid, NotFound
from shared.domain.ids import AgentId, UserId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library.files import (
    PICTURE_TYPE,
    build_thumbnail_address,
    find_thumbnail_file,
    thumbnail_path,
)


@route("GET", "/v1/agents", "List custom agents, newest first")
async def list_agents(deps: ChatDeps, call: Call[None, AgentsQuery]) -> AgentPageOut:
    query = call.query
    agents = deps.stores.custom_agents
    page = await agents.list_page(call.uid, limit=query.limit, after=query.cursor)
    return AgentPageOut(items=list(map(to_agent_out, page.items)), next=page.next)


@route(
    "POST",
    "/v1/agents",
    "Create a custom agent",
    errors=(400, 404, 409, 422),
    max_bytes=MAX_AGENT_BYTES,
)
async def create_agent(deps: ChatDeps, call: CreatingCall[AgentIn]) -> AgentOut:
    body, now = call.body, deps.clock.now()
    agent = CustomAgent(
        id=AgentId(call.operation.name),
        name=body.name,
        instructions=body.instructions,
        description=body.description,
        emoji=body.emoji,
        picture=await _find_picture(deps, call.uid, body.picture_file_id or ""),
        tools=None if body.tools is None else tuple(body.tools),
        role=body.role,
        replaces_prompt=body.replaces_prompt,
        created_at=now,
        updated_at=now,
    )
    return to_agent_out(await deps.stores.custom_agents.create(call.uid, agent))


@route("POST", "/v1/agents/from-link", "Copy an agent that somebody shares", errors=(404, 409))
async def add_shared_agent(deps: ChatDeps, call: Call[AgentLinkIn]) -> AgentOut:
    """A repeat returns the copy that there is; its text counts as the words of somebody else."""
    agents = deps.stores.custom_agents
    return to_agent_out(await agents.add_shared(call.uid, call.body.token, now=deps.clock.now()))


@route("GET", "/v1/shared-agents/{token}", "Read an agent that somebody shares", errors=(404,))
async def read_shared_agent(deps: ChatDeps, call: Call) -> SharedAgentOut:
    token = call.path["token"]
    _, agent = await deps.stores.custom_agents.get_shared(token)
    shown = SharedAgentOut.model_validate(agent)
    address = f"/v1/shared-agents/{token}/picture" if agent.picture else ""
    return shown.model_copy(update={"picture": address})


@route(
    "GET",
    "/v1/shared-agents/{token}/picture",
    "Show the picture of an agent while somebody shares it",
    access="anyone",
    errors=(404,),
    media_type=PICTURE_TYPE,
)
async def show_shared_picture(deps: ChatDeps, call: Call) -> Response:
    """Its address names neither the owner nor the key of the owner's file, and ends with the link."""
    owner, agent = await deps.stores.custom_agents.get_shared(call.path["token"])
    file_id = find_thumbnail_file(agent.picture)
    if file_id is None:
        raise NotFound("This agent has no picture.")
    content = await deps.blobs.read(thumbnail_path(owner, file_id))
    return Response(content, media_type=PICTURE_TYPE, headers={"Cache-Control": "no-store"})


@route("GET", "/v1/agents/{id}", "Read a custom agent", errors=(404,))
async def get_agent(deps: ChatDeps, call: Call) -> AgentOut:
    return to_agent_out(await deps.stores.custom_agents.get(call.uid, call.path["id"]))


@route(
    "PATCH",
    "/v1/agents/{id}",
    "Change a custom agent, from the next message on",
    errors=(404,),
    max_bytes=MAX_AGENT_BYTES,
)
async def change_agent(deps: ChatDeps, call: Call[AgentChangeIn]) -> AgentOut:
    sent = call.body.model_dump(exclude_unset=True)
    changes = {name: sent[name] for name in sent if sent[name] is not None or name == "tools"}
    picture_file_id = changes.pop("picture_file_id", None)
    if picture_file_id is not None:
        changes["picture"] = await _find_picture(deps, call.uid, picture_file_id)
    if changes.get("tools") is not None:
        changes["tools"] = tuple(changes["tools"])
    agent = await deps.stores.custom_agents.change(
        call.uid, call.path["id"], **changes, updated_at=deps.clock.now()
    )
    return to_agent_out(agent)


@route(
    "DELETE",
    "/v1/agents/{id}",
    "Delete a custom agent and its link; its chats go on without it",
    errors=(404,),
)
async def delete_agent(deps: ChatDeps, call: Call) -> OkOut:
    await deps.stores.custom_agents.delete(call.uid, call.path["id"])
    return OkOut()


@route(
    "PUT",
    "/v1/agents/{id}/share",
    "Share a custom agent by a link; whoever has it may copy the agent as it is then",
    errors=(404,),
)
async def share_agent(deps: ChatDeps, call: Call) -> AgentOut:
    agents, agent_id = deps.stores.custom_agents, call.path["id"]
    await agents.share(call.uid, agent_id, deps.new_id())
    return to_agent_out(await agents.get(call.uid, agent_id))


@route("DELETE", "/v1/agents/{id}/share", "End the link of a custom agent", errors=(404,))
async def unshare_agent(deps: ChatDeps, call: Call) -> AgentOut:
    """A link that was ended never leads anywhere again; copies that were made stay."""
    agents, agent_id = deps.stores.custom_agents, call.path["id"]
    await agents.unshare(call.uid, agent_id)
    return to_agent_out(await agents.get(call.uid, agent_id))


async def _find_picture(deps: ChatDeps, uid: UserId, file_id: str) -> str:
    """Return the address of a picture's thumbnail, empty for an empty id. Raises NotFound and Invalid."""
    if not file_id:
        return ""
    file = await deps.stores.files.get(uid, file_id)
    address = build_thumbnail_address(file, uid) if file.is_picture else None
    if address is None:
        raise Invalid(f"“{file.name}” is no picture that was read.")
    return address


ROUTES = (
    list_agents,
    create_agent,
    add_shared_agent,
    read_shared_agent,
    show_shared_picture,
    get_agent,
    change_agent,
    delete_agent,
    share_agent,
    unshare_agent,
)
