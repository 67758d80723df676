"""What an app says it can do: its manifest, read with suspicion."""

from collections.abc import Mapping
from typing import Any, Literal, cast, get_args
from urllib.parse import urljoin, urlsplit

from functions.tool_proxy.apps.parameters import Allowance, BadTool, parameters, read_json
from shared.domain.app import ChatTool, ExternalIntegration, Method
from shared.domain.value import value

MAX_TOOLS = 40
_MAX_NAME = 64
_MAX_TEXT = 2_000


class BadManifest(ValueError):
    """The whole manifest cannot be used; the message is for its developer."""


@value
class ChatMessages:
    """Whether and where the app's notifications become chat messages."""

    enabled: bool = False
    target: Literal["main", "app"] = "app"
    notify: bool = False


@value
class Manifest:
    """The usable tools, one reason for each other, and chat settings if it declares any."""

    tools: tuple[ChatTool, ...]
    refused: tuple[str, ...]
    chat_messages: ChatMessages | None = None


def read_manifest(body: bytes, integration: ExternalIntegration) -> Manifest:
    """Read fetched JSON. Raises BadManifest when there is no list of tools in it."""
    content = _parse(body)
    tools: dict[str, ChatTool] = {}
    refused = []
    allowance = Allowance()
    for position, declared in enumerate(content["tools"], start=1):
        try:
            name = _free_name(declared, tools)
            tools[name] = _tool(name, declared, integration, allowance)
        except BadTool as reason:
            refused.append(f"{_label(declared, position)}: {reason}"[:300])
    return Manifest(
        tools=tuple(tools.values()),
        refused=tuple(refused[:MAX_TOOLS]),
        chat_messages=_chat_messages(content.get("chat_messages")),
    )


def _parse(body: bytes) -> dict[str, Any]:
    try:
        content = read_json(body)
    except (ValueError, RecursionError) as error:
        raise BadManifest("The manifest is not valid JSON.") from error
    if not isinstance(content, dict) or not isinstance(content.get("tools"), list):
        raise BadManifest("The manifest must be an object with a list `tools`.")
    return content


def _label(declared: Any, position: int) -> str:
    name = declared.get("name") if isinstance(declared, dict) else None
    return name[:_MAX_NAME] if isinstance(name, str) and name.strip() else f"tool {position}"


def _free_name(declared: Any, tools: Mapping[str, ChatTool]) -> str:
    """Return the tool's name; one that has no place is not read any further."""
    if not isinstance(declared, dict):
        raise BadTool("not an object")
    name = _text(declared, "name", _MAX_NAME)
    if name in tools:
        raise BadTool("another tool has this name")
    if len(tools) == MAX_TOOLS:
        raise BadTool(f"an app may have {MAX_TOOLS} tools")
    return name


def _tool(
    name: str,
    declared: Mapping[str, Any],
    integration: ExternalIntegration,
    allowance: Allowance,
) -> ChatTool:
    method = _method(declared.get("method") or "POST")
    return ChatTool(
        name=name,
        description=_text(declared, "description", _MAX_TEXT),
        endpoint=_endpoint(_text(declared, "endpoint", _MAX_TEXT), integration),
        method=method,
        parameters=parameters(declared.get("parameters"), allowance),
        auth_required=declared.get("auth_required") is not False,
        status_message=_line(declared.get("status_message")),
        read_only=method == "GET" and declared.get("read_only") is True,
    )


def _line(text: Any) -> str | None:
    return " ".join(text.split())[:200] if isinstance(text, str) else None


def _text(declared: Mapping[str, Any], field: str, longest: int) -> str:
    value = declared.get(field)
    if not isinstance(value, str) or not value.strip():
        raise BadTool(f"`{field}` is missing")
    if len(value.strip()) > longest:
        raise BadTool(f"`{field}` is over {longest} characters")
    return value.strip()


def _method(value: Any) -> Method:
    method = value.upper() if isinstance(value, str) else None
    if method not in get_args(Method):
        raise BadTool(f"`method` must be one of {', '.join(get_args(Method))}")
    return cast("Method", method)


def _endpoint(endpoint: str, integration: ExternalIntegration) -> str:
    """Join a relative endpoint to the app's home, or to where the manifest was found."""
    manifest = integration.chat_tools_manifest_url or ""
    if endpoint.startswith("/") and not endpoint.startswith("//"):
        if integration.app_home_url:
            endpoint = integration.app_home_url.rstrip("/") + endpoint
        else:
            endpoint = urljoin(manifest, endpoint)
    known = (manifest, integration.app_home_url, integration.mcp_server_url)
    homes = {_origin(url) for url in known if url}
    if not endpoint.startswith("https://") and _origin(endpoint) not in homes - {None}:
        raise BadTool("`endpoint` must be a path or an https:// address")
    return endpoint


def _origin(url: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return (parts.scheme, parts.netloc) if parts.netloc else None


def _chat_messages(declared: Any) -> ChatMessages | None:
    """Take what is well-formed; an unknown target means the app's own chat."""
    if not isinstance(declared, dict):
        return None
    return ChatMessages(
        enabled=declared.get("enabled") is True,
        target="main" if declared.get("target") == "main" else "app",
        notify=declared.get("notify") is True,
    )
