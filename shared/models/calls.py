"""Calls of tools as models stream or write them: which piece belongs to which call, and what it says; pure."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from shared.domain.models.model import ToolCall

_KNOWN_FIELDS = frozenset(("index", "id", "type", "function", "name", "arguments"))
_NAME_KEYS = ("name", "tool_name", "tool", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "params")
_NAME_PARTS = re.compile(r"[A-Za-z0-9_-]+")
"""Parts of a name between which servers leave control text, namespaces and recipients."""
_PARAMETER = re.compile(
    r"<(?:[^\s<>=]*?)parameter[ =](?:name=)?[\"']?([^\s\"'>]+)[\"']?[^>]*>\n?(.*?)\n?</",
    re.DOTALL,
)
_KEY_AND_VALUE = re.compile(
    r"<arg_key>\s*(.*?)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL
)
_NAMED_CALL = re.compile(r"(?:function=|invoke name=|name=)[\"']?([\w.:-]+)[\"']?[^>]*>")
_BARE_KEY = re.compile(r"([{,]\s*)([A-Za-z_]\w*)\s*:")
_MAX_JSON_STARTS = 64


@dataclass(slots=True)
class _OpenCall:
    """A call being assembled."""

    index: int | None
    id: str
    name: str = ""
    arguments: str = ""
    given_back: dict[str, Any] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Tell whether the arguments end; only a text that may be whole is parsed."""
        return self.arguments[-8:].rstrip().endswith(("}", '"')) and is_whole_json(self.arguments)


class CallAssembler:
    """Joins pieces by id, index, name and open JSON together, since no server gives all of them rightly.

    `names` are those of the tools that were offered.
    """

    def __init__(self, names: Collection[str] = ()) -> None:
        self._names = names
        self._calls: list[_OpenCall] = []

    def __bool__(self) -> bool:
        return bool(self._in_order())

    @property
    def are_whole(self) -> bool:
        """Tell whether every call has a name and arguments that end."""
        return all(c.name and (c.is_whole or not c.arguments.strip()) for c in self._calls)

    def add_pieces(self, pieces: Any) -> None:
        """Add what a chunk holds: a list of pieces, or one, or pieces by number; anything else is skipped."""
        if isinstance(pieces, dict):
            pieces = [pieces] if _KNOWN_FIELDS.intersection(pieces) else list(pieces.values())
        if isinstance(pieces, list):
            for piece in pieces:
                if isinstance(piece, dict):
                    self.add(piece)

    def add(self, piece: Mapping[str, Any]) -> None:
        function = piece.get("function")
        function = function if isinstance(function, dict) else piece
        name, arguments = _to_name(function.get("name")), _to_text(function.get("arguments"))
        index, call_id = _to_index(piece.get("index")), _to_id(piece.get("id"))
        call = self._find(index, call_id, name, arguments)
        if call is None:
            if not (name or arguments or call_id):
                return
            call = _OpenCall(index, call_id)
            self._calls.append(call)
        elif call.is_whole and arguments.strip() in ("", call.arguments.strip()):
            arguments = ""  # the same once more
        if call.arguments.strip() in ("{}", "null") and arguments.strip():
            call.arguments = ""  # a place that was held for what comes
        call.id = call.id or call_id
        call.name = self._join_name(call.name, name)
        call.arguments += arguments
        other = {k: v for k, v in piece.items() if k not in _KNOWN_FIELDS and v is not None}
        call.given_back |= other

    def list_calls(self, *, earlier_calls: int, used_ids: Collection[str]) -> Iterator[ToolCall]:
        """Yield the calls in their order; an id that is missing or used already is made up."""
        taken = set(used_ids)
        for number, call in enumerate(self._in_order(), earlier_calls):
            call_id = call.id
            while not call_id or call_id in taken:
                call_id = f"call_{number}" if not call_id else f"{call_id}_{number}"
            taken.add(call_id)
            yield ToolCall(
                id=call_id,
                name=clean_name(call.name, self._names),
                arguments=unwrap_arguments(call.arguments),
                given_back=call.given_back,
            )

    def _in_order(self) -> list[_OpenCall]:
        """Return the calls that say what they call, by number where each has its own."""
        named = [call for call in self._calls if call.name.strip()]
        numbers = [call.index for call in named if call.index is not None]
        if len(set(numbers)) == len(named):
            return sorted(named, key=lambda call: call.index or 0)
        return named

    def _find(self, index: int | None, call_id: str, name: str, arguments: str) -> _OpenCall | None:
        """Return the call that a piece continues, None where it begins one."""
        by_id = next((c for c in self._calls if call_id and c.id == call_id), None)
        same_index = (c for c in reversed(self._calls) if index is not None and c.index == index)
        call = by_id or next(same_index, None)
        if call is None and not name:  # a piece without a name begins nothing
            return next((c for c in reversed(self._calls) if not c.is_whole), None) or (
                self._calls[-1] if self._calls else None
            )
        if call is None and index is None and not call_id:
            call = self._calls[-1] if self._calls else None
        if call is None or not name or not call.name:
            return call
        return call if self._continues(call, call_id, name, arguments) else None

    def _continues(self, call: _OpenCall, call_id: str, name: str, arguments: str) -> bool:
        """Tell whether a piece with a name still belongs to a call that has one."""
        if call.id and call_id and call.id != call_id and (call.is_whole or not call.arguments):
            return False
        if call.is_whole:
            return name == call.name and arguments.strip() in ("", call.arguments.strip())
        return name == call.name or (not call.arguments and self._is_name_part(call.name, name))

    def _is_name_part(self, begun: str, piece: str) -> bool:
        """Tell whether a name comes in pieces: what they make together begins an offered one."""
        if begun in self._names:
            return False
        return any(offered.startswith(begun + piece) for offered in self._names)

    def _join_name(self, begun: str, piece: str) -> str:
        if not begun or not piece:
            return begun or piece
        return begun + piece if begun != piece and self._is_name_part(begun, piece) else begun


def clean_name(name: str, names: Collection[str]) -> str:
    """Return the offered tool that a name means in spite of control text around it, else the name."""
    if name in names or not names:
        return name
    parts = [part for word in _NAME_PARTS.findall(name) for part in (word, *word.split("__"))]
    return next((part for part in parts if part in names), name)


def unwrap_arguments(text: str) -> str:
    """Return the arguments as JSON text of an object where a fence or a text holds it, else as they are."""
    stripped = text.strip()
    if not stripped or stripped == "null":
        return "{}"
    if stripped.startswith("```"):
        stripped = stripped.strip("`").removeprefix("json").strip()
    try:
        content = from_json(stripped)
        if isinstance(content, str):
            content = from_json(content)
    except ValueError:
        return text
    if not isinstance(content, dict):
        return text
    return stripped if stripped.startswith("{") else json.dumps(content, ensure_ascii=False)


def is_whole_json(text: str) -> bool:
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def find_written_calls(text: str, names: Collection[str]) -> list[ToolCall]:
    """Return the calls that a model wrote as text, in whatever syntax; none but of offered tools."""
    found = [*_find_json_calls(text, names)] or [*_find_tagged_calls(text, names)]
    found = found or [*_find_python_calls(text, names)] or [*_find_loose_calls(text, names)]
    found = found or [(name, "{}") for _, _, name in _find_leading_names(text, names)]
    return [ToolCall(id="", name=name, arguments=arguments) for name, arguments in found]


def _find_json_calls(text: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield `{"name": …, "arguments": …}` and `name {…}`, in the order in which they stand."""
    end = 0
    for start, content, stop in iterate_objects(text):
        if start < end:
            continue
        call = _read_call(content, names) or _read_named(text[end:start], content, names)
        if call is not None:
            yield call
            end = stop


def _read_call(content: Mapping[str, Any], names: Collection[str]) -> tuple[str, str] | None:
    function = content.get("function")
    facts = function if isinstance(function, dict) else content
    named = (facts.get(key) for key in _NAME_KEYS)
    name = next((clean_name(n, names) for n in named if isinstance(n, str)), "")
    if name not in names:
        return None
    arguments: Any = next((facts[key] for key in _ARGUMENT_KEYS if key in facts), {})
    return name, unwrap_arguments(_to_text(arguments))


def _read_named(
    before: str, content: Mapping[str, Any], names: Collection[str]
) -> tuple[str, str] | None:
    """Read arguments whose tool is named right before them."""
    words = re.findall(r"[\w.:/-]+", before)
    candidates = (clean_name(re.sub(r":\d+$", "", word), names) for word in reversed(words[-6:]))
    name = next((candidate for candidate in candidates if candidate in names), None)
    return None if name is None else (name, json.dumps(content, ensure_ascii=False))


def _find_tagged_calls(text: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield calls whose arguments stand between tags, each text for itself."""
    starts = [*_NAMED_CALL.finditer(text)]
    named = [(m.start(), m.end(), clean_name(m[1], names)) for m in starts]
    named = [each for each in named if each[2] in names] or [*_find_leading_names(text, names)]
    for n, (_, begin, name) in enumerate(named):
        end = named[n + 1][0] if n + 1 < len(named) else len(text)
        part = text[begin:end]
        pairs = _KEY_AND_VALUE.findall(part) or _PARAMETER.findall(part)
        if pairs or starts:
            arguments = {key: _read_value(value) for key, value in pairs}
            yield name, json.dumps(arguments, ensure_ascii=False)


def _find_python_calls(text: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield calls such as `search(query="plumber")`, of constants alone."""
    import ast

    for match in re.finditer(r"([A-Za-z_][\w.]*)\(", text):
        name = clean_name(match[1], names)
        if name not in names:
            continue
        for end in (m.end() for m in re.finditer(r"\)", text[match.end() :])):
            try:
                call = ast.parse(f"f({text[match.end() : match.end() + end]}", mode="eval").body
                keywords = call.keywords if isinstance(call, ast.Call) else []
                values = {each.arg: ast.literal_eval(each.value) for each in keywords if each.arg}
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            yield name, json.dumps(values, ensure_ascii=False, default=str)
            break


def _find_loose_calls(text: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield calls whose JSON has keys without quotation marks, or marks of the template's own."""
    quoted = text.replace('<|"|>', '"')
    return _find_json_calls(_BARE_KEY.sub(r'\1"\2":', quoted), names)


def _find_leading_names(text: str, names: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yield names that stand right behind an opening tag."""
    for match in re.finditer(r"[>\]]\s*([\w.:-]+)", text):
        name = clean_name(match[1], names)
        if name in names:
            yield match.start(), match.end(), name


def _read_value(text: str) -> Any:
    """Read a value between tags: JSON where it is a list, an object, a number or a constant."""
    try:
        content = from_json(text)
    except ValueError:
        return text
    return text if isinstance(content, str) else content


def iterate_objects(text: str) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Yield the JSON objects of a text with where they begin and end, outer ones before inner ones."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(_MAX_JSON_STARTS):
        if start < 0:
            return
        try:
            content, stop = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            content, stop = None, start
        if isinstance(content, dict):
            yield start, content, stop
        start = text.find("{", start + 1)


def _to_text(arguments: Any) -> str:
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _to_name(name: Any) -> str:
    return name if isinstance(name, str) else ""


def _to_index(index: Any) -> int | None:
    if isinstance(index, str) and index.isdecimal():
        return int(index)
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _to_id(call_id: Any) -> str:
    return str(call_id) if isinstance(call_id, str | int) and not isinstance(call_id, bool) else ""
