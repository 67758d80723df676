"""What an app says it can do: its manifest, read with suspicion."""

import json
from collections.abc import Mapping
from typing import Any, Literal, cast, get_args
from urllib.parse import urljoin, urlsplit

from shared.domain.app import ChatTool, ExternalIntegration, Method
from shared.domain.text import visible
from shared.domain.value import value

MAX_TOOLS = 40
_MAX_NAME = 64
_MAX_TEXT = 2_000
_MAX_SCHEMA_BYTES = 16_384
_MAX_SCHEMAS_BYTES = 65_536
"""For all tools of an app: what is beyond would only crowd the model's prompt."""
_PLACE = 8
"""Characters that any part of a schema counts for: a million empty maps are a short text."""
_MAX_DEPTH = 32
_COSTLY = (
    "patternProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "$dynamicRef",
    "$recursiveRef",
)
"""Keywords whose validation a stranger can make take exponential time, or follow references."""


class BadManifest(ValueError):
    """The whole manifest cannot be used; the message is for its developer."""


class BadTool(ValueError):
    """One tool cannot be used; the others can."""


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
    allowance = _Allowance()
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
        content = _read(body)
    except (ValueError, RecursionError) as error:
        raise BadManifest("The manifest is not valid JSON.") from error
    if not isinstance(content, dict) or not isinstance(content.get("tools"), list):
        raise BadManifest("The manifest must be an object with a list `tools`.")
    return content


def _read(text: bytes | str) -> Any:
    """Read JSON without what a model would read and nobody sees. Raises ValueError."""
    whole = json.dumps(json.loads(text, parse_constant=_no_number), ensure_ascii=False)
    whole.encode()  # fails on half a surrogate pair
    return json.loads(visible(whole))


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


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
    allowance: "_Allowance",
) -> ChatTool:
    method = _method(declared.get("method") or "POST")
    return ChatTool(
        name=name,
        description=_text(declared, "description", _MAX_TEXT),
        endpoint=_endpoint(_text(declared, "endpoint", _MAX_TEXT), integration),
        method=method,
        parameters=_parameters(declared.get("parameters"), allowance),
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


def _parameters(declared: Any, allowance: "_Allowance") -> Mapping[str, Any]:
    """Return a JSON Schema of type object that stands alone: references are written out."""
    if isinstance(declared, str):
        declared = _from_text(declared)
    if declared is None:
        declared = {}
    if not isinstance(declared, dict) or declared.get("type", "object") != "object":
        raise BadTool("`parameters` must be a JSON Schema of type object")
    schema = {"type": "object", "properties": {}, **declared}
    allowance.begin()
    schema = _Inliner(schema, allowance).inline(schema, depth=0)
    schema.pop("$defs", None)
    schema.pop("definitions", None)
    _check_schema(schema)
    return cast("Mapping[str, Any]", schema)


def _from_text(declared: str) -> Any:
    try:
        return _read(declared)
    except (ValueError, RecursionError) as error:
        raise BadTool("`parameters` is text that is not JSON") from error


class _Allowance:
    """How many characters of schemas may be written out: for one tool, and for all."""

    def __init__(self) -> None:
        self._of_all = _MAX_SCHEMAS_BYTES
        self._of_this = 0

    def begin(self) -> None:
        """Begin with the next tool."""
        self._of_this = _MAX_SCHEMA_BYTES

    def spend(self, chars: int) -> None:
        self._of_this -= chars
        self._of_all -= chars
        if self._of_this < 0 or self._of_all < 0:
            raise BadTool(
                f"`parameters` is over {_MAX_SCHEMA_BYTES} bytes,"
                f" or those of all tools over {_MAX_SCHEMAS_BYTES}"
            )


class _Inliner:
    """Writes out `$ref`s, so that neither a model nor a validator has to follow any.

    What a reference may cost is bounded: an exploding schema runs out of its allowance.
    """

    def __init__(self, root: Mapping[str, Any], allowance: _Allowance) -> None:
        self._root = root
        self._allowance = allowance

    def inline(self, node: Any, *, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise BadTool("`parameters` is recursive or too deep")
        self._allowance.spend(_chars(node))
        if isinstance(node, list):
            return [self.inline(item, depth=depth + 1) for item in node]
        if not isinstance(node, dict):
            return node
        if isinstance(node.get("$ref"), str):
            rest = {name: value for name, value in node.items() if name != "$ref"}
            return self.inline({**self._resolve(node["$ref"]), **rest}, depth=depth + 1)
        skipped = ("$defs", "definitions") if depth == 0 else ()
        return {
            name: self.inline(value, depth=depth + 1)
            for name, value in node.items()
            if name not in skipped
        }

    def _resolve(self, reference: str) -> Mapping[str, Any]:
        if not reference.startswith("#"):
            raise BadTool("`parameters` refers to another document")
        node: Any = self._root
        for part in reference.removeprefix("#").split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            node = node.get(name) if isinstance(node, dict) else None
        if not isinstance(node, dict):
            raise BadTool("`parameters` refers to what is not there")
        return node


def _chars(node: Any) -> int:
    """Count what a node adds to a schema, for its text and its place in memory; its parts count for themselves."""
    if isinstance(node, dict):
        return _PLACE + sum(map(len, node))
    return _PLACE + len(node) if isinstance(node, str) else _PLACE


def _check_schema(schema: Mapping[str, Any]) -> None:
    from jsonschema import Draft202012Validator, SchemaError

    if len(json.dumps(schema, ensure_ascii=False).encode()) > _MAX_SCHEMA_BYTES:
        raise BadTool(f"`parameters` is over {_MAX_SCHEMA_BYTES} bytes")
    if used := next((keyword for keyword in _COSTLY if _uses(schema, keyword)), None):
        raise BadTool(f"`parameters` uses {used}")
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise BadTool(f"`parameters` is not a JSON Schema: {error.message}") from error


def _uses(node: Any, keyword: str) -> bool:
    if isinstance(node, list):
        return any(_uses(item, keyword) for item in node)
    if isinstance(node, dict):
        return keyword in node or any(_uses(value, keyword) for value in node.values())
    return False


def _chat_messages(declared: Any) -> ChatMessages | None:
    """Take what is well-formed; an unknown target means the app's own chat."""
    if not isinstance(declared, dict):
        return None
    return ChatMessages(
        enabled=declared.get("enabled") is True,
        target="main" if declared.get("target") == "main" else "app",
        notify=declared.get("notify") is True,
    )
