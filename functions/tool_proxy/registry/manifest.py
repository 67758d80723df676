"""Manifest of an app: the tools that it declares, parsed and bounded; it is untrusted input.

Also called: plugin manifest.
"""

from collections.abc import Mapping
from typing import Any, cast, get_args
from urllib.parse import urljoin, urlsplit

from functions.tool_proxy.ports import ChatMessageSettings, Manifest
from functions.tool_proxy.registry.parameters import (
    InvalidTool,
    SchemaBudget,
    parse_parameters,
    read_json,
)
from shared.domain.apps.app import ChatTool, ExternalIntegration, Method

MAX_TOOLS = 40
_MAX_NAME_CHARS = 256
"""A model is shown a name of at most 64 characters, made of this one."""
_MAX_LABEL_CHARS = 64
_MAX_TEXT_CHARS = 2_000
_MAX_DESCRIPTION_CHARS = 4_000
"""What is kept of a tool's description; models are shown less of it."""


class InvalidManifest(ValueError):
    """The manifest as a whole cannot be used; the message is for its developer."""


def read_manifest(body: bytes, integration: ExternalIntegration) -> Manifest:
    """Parse a manifest. Raises InvalidManifest if it is not JSON with a list of tools."""
    content = _parse_manifest(body)
    tools: dict[str, ChatTool] = {}
    refusals = []
    budget = SchemaBudget()
    for position, declaration in enumerate(content["tools"], start=1):
        try:
            name = _parse_unique_name(declaration, tools)
            tools[name] = _parse_tool(name, declaration, integration, budget)
        except InvalidTool as reason:
            refusals.append(f"{_get_label(declaration, position)}: {reason}"[:300])
    return Manifest(
        tools=tuple(tools.values()),
        refused_tools=tuple(refusals[:MAX_TOOLS]),
        chat_messages=_parse_chat_messages(content.get("chat_messages")),
    )


def _parse_manifest(body: bytes) -> dict[str, Any]:
    try:
        content = read_json(body)
    except (ValueError, RecursionError) as error:
        raise InvalidManifest("The manifest is not valid JSON.") from error
    if not isinstance(content, dict) or not isinstance(content.get("tools"), list):
        raise InvalidManifest("The manifest must be an object with a list `tools`.")
    return content


def _get_label(declaration: Any, position: int) -> str:
    name = declaration.get("name") if isinstance(declaration, dict) else None
    return name[:_MAX_LABEL_CHARS] if isinstance(name, str) and name.strip() else f"tool {position}"


def _parse_unique_name(declaration: Any, tools: Mapping[str, ChatTool]) -> str:
    """Return the tool's name. Raises InvalidTool for a duplicate, and for one tool too many."""
    if not isinstance(declaration, dict):
        raise InvalidTool("not an object")
    name = _parse_text(declaration, "name", _MAX_NAME_CHARS)
    if name in tools:
        raise InvalidTool("another tool has this name")
    if len(tools) == MAX_TOOLS:
        raise InvalidTool(f"an app may have {MAX_TOOLS} tools")
    return name


def _parse_tool(
    name: str,
    declaration: Mapping[str, Any],
    integration: ExternalIntegration,
    budget: SchemaBudget,
) -> ChatTool:
    method = _parse_method(declaration.get("method") or "POST")
    return ChatTool(
        name=name,
        description=_parse_text(declaration, "description")[:_MAX_DESCRIPTION_CHARS],
        endpoint=_parse_endpoint(
            _parse_text(declaration, "endpoint", _MAX_TEXT_CHARS), integration
        ),
        method=method,
        parameters=parse_parameters(declaration.get("parameters"), budget),
        auth_required=declaration.get("auth_required") is not False,
        status_message=_to_line(declaration.get("status_message")),
        read_only=declaration.get("read_only") is True,
        destructive=declaration.get("destructive") is True,
    )


def _to_line(text: Any) -> str | None:
    return " ".join(text.split())[:200] if isinstance(text, str) else None


def _parse_text(declaration: Mapping[str, Any], field: str, max_chars: int | None = None) -> str:
    value = declaration.get(field)
    if not isinstance(value, str) or not value.strip():
        raise InvalidTool(f"`{field}` is missing")
    if max_chars is not None and len(value.strip()) > max_chars:
        raise InvalidTool(f"`{field}` is over {max_chars} characters")
    return value.strip()


def _parse_method(value: Any) -> Method:
    method = value.upper() if isinstance(value, str) else None
    if method not in get_args(Method):
        raise InvalidTool(f"`method` must be one of {', '.join(get_args(Method))}")
    return cast("Method", method)


def _parse_endpoint(endpoint: str, integration: ExternalIntegration) -> str:
    """Resolve a relative endpoint against the app's home, or else the manifest's address."""
    manifest = integration.chat_tools_manifest_url or ""
    if endpoint.startswith("/") and not endpoint.startswith("//"):
        if integration.app_home_url:
            endpoint = integration.app_home_url.rstrip("/") + endpoint
        else:
            endpoint = urljoin(manifest, endpoint)
    base_urls = (manifest, integration.app_home_url, integration.mcp_server_url)
    homes = {_get_origin(url) for url in base_urls if url}
    if not endpoint.startswith("https://") and _get_origin(endpoint) not in homes - {None}:
        raise InvalidTool("`endpoint` must be a path or an https:// address")
    return endpoint


def _get_origin(url: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return (parts.scheme, parts.netloc) if parts.netloc else None


def _parse_chat_messages(declaration: Any) -> ChatMessageSettings | None:
    """Parse the settings that are well-formed; an unknown target means the app's own chat."""
    if not isinstance(declaration, dict):
        return None
    return ChatMessageSettings(
        enabled=declaration.get("enabled") is True,
        target="main" if declaration.get("target") == "main" else "app",
        notify=declaration.get("notify") is True,
    )
