"""Routes of tool grants: what the chat may call, and a switch for each tool."""

from pydantic import Field

from functions.chat.consent.disclosure import CLEAN_DAY_BUDGET_BITS, DAY_BUDGET_BITS
from functions.chat.deps import ChatDeps
from functions.chat.tools import tool_grants
from functions.chat.tools.tool_grants import ToolGrant
from shared.domain.chats.consent import GrantState, Standing
from shared.domain.provenance import Source
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.security.tool_class import ToolClass


class ToolGrantOut(Wire):
    """A tool and what its owner decided about it.

    In the state `default` its `tool_class` decides: `read` tools run, `write` and `sensitive` tools
    ask, and `allows_always` says whether one may stop asking. `standing` tells a tool that is new or has changed, which asks too. `pin` names the version
    that is shown. `bits_today` is what its maker was told today without a question, of `bits_limit`.
    """

    source: Source
    maker: str
    tool: str
    description: str
    tool_class: ToolClass
    allows_always: bool
    standing: Standing
    pin: str
    state: GrantState
    bits_today: float
    bits_limit: float = DAY_BUDGET_BITS
    clean_bits_today: float
    clean_bits_limit: float = CLEAN_DAY_BUDGET_BITS


class ToolGrantIn(Wire):
    """A decision about one tool, named by its source and its own name.

    With the `pin` that was listed, it holds for the version that the user saw or is refused.
    """

    kind: str = Field(max_length=20)
    id: str = Field(max_length=64)
    tool: str = Field(max_length=64)
    state: GrantState
    pin: str | None = Field(default=None, max_length=64)


@route("GET", "/v1/tool-grants", "List the tools that the chat may call")
async def list_tool_grants(deps: ChatDeps, call: Call) -> list[ToolGrantOut]:
    return [_to_grant_out(grant) for grant in await tool_grants.list_grants(deps, call.uid)]


@route(
    "PUT",
    "/v1/tool-grants",
    "Allow a tool for always, let it ask, or switch it off",
    errors=(404, 409),
    check="revocation",
)
async def set_tool_grant(deps: ChatDeps, call: Call[ToolGrantIn]) -> OkOut:
    body = call.body
    await tool_grants.set_grant(
        deps, call.uid, f"{body.kind}:{body.id}", body.tool, body.state, seen_pin=body.pin
    )
    return OkOut()


def _to_grant_out(grant: ToolGrant) -> ToolGrantOut:
    tool = grant.tool
    return ToolGrantOut(
        source=tool.source,
        maker=tool.maker,
        tool=tool.name,
        description=tool.spec.description,
        tool_class=tool.tool_class,
        allows_always=tool.allows_always,
        standing=tool.standing,
        pin=tool.pin,
        state=grant.state,
        bits_today=grant.bits_today,
        clean_bits_today=grant.clean_bits_today,
    )


ROUTES = (list_tool_grants, set_tool_grant)
