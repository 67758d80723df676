"""Class of a tool: whether its calls read, write, or are sensitive, by its declaration and its name.

Also called: read-only tools, destructive actions.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from shared.domain.apps.app import ChatTool

ToolClass = Literal["read", "write", "sensitive"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CONJUNCTIONS = frozenset({"and", "or"})
_VERBS: Mapping[ToolClass, str] = {
    "sensitive": (
        "delete remove cancel clear erase wipe purge reset revoke"
        " pay buy order book transfer withdraw deposit charge donate"
        " send email mail forward text call tweet retweet post publish dispatch share reply"
        " invite grant approve allow unlock open disable run execute"
    ),
    "write": (
        "add append change create edit insert make mark move put rename replace save set update write"
    ),
    "read": "get list search find query show read check lookup fetch count",
}
"""From severe to mild. Where no verb is listed, a tool writes; the listed ones of that class only make
a noun of a verb behind them: `add_to_list`, `mark_as_read`, `find_and_replace`."""
_CLASSES: Mapping[str, ToolClass] = {
    verb: tool_class for tool_class, verbs in _VERBS.items() for verb in verbs.split()
}


def classify_app_tool(tool: ChatTool) -> ToolClass:
    """Return the class of a tool as its app declares it, and as it was read when it was registered."""
    return classify_tool(
        tool.name,
        read_only=tool.read_only,
        destructive=tool.destructive or tool.is_grave,
        method=tool.method,
    )


def classify_tool(name: str, *, read_only: bool, destructive: bool, method: str) -> ToolClass:
    """Return the class of an app's tool; the more severe of its name and its declaration decides.

    `read_only` counts only where the name does not say that the tool is sensitive.
    """
    class_by_name = _classify_name(name)
    if destructive or method.upper() == "DELETE" or class_by_name == "sensitive":
        return "sensitive"
    return "read" if read_only else class_by_name


def is_grave_choice(choice: object, schema: Mapping[str, Any]) -> bool:
    """Tell whether a choice among deeds says that a call is sensitive: `delete` of list, create and delete."""
    choices = [each for each in schema.get("enum", ()) if isinstance(each, str)]
    if choice not in choices or _CLASSES.get(_first_word(str(choice))) != "sensitive":
        return False
    return any(_CLASSES.get(_first_word(each)) in ("read", "write") for each in choices)


def _first_word(name: str) -> str:
    return next(iter(_split(name)), "")


def _split(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(unicodedata.normalize("NFKC", name))]


def _classify_name(name: str) -> ToolClass:
    words = _split(name)
    classes = [_CLASSES[word] for word in words if word in _CLASSES]
    if not _CONJUNCTIONS.isdisjoint(words):
        return _choose_most_severe(classes)
    return _decide_by_first_verb(classes)


def _choose_most_severe(classes: Collection[ToolClass]) -> ToolClass:
    severe_first: list[ToolClass] = [severity for severity in _VERBS if severity in classes]
    return severe_first[0] if severe_first else "write"


def _decide_by_first_verb(classes: Sequence[ToolClass]) -> ToolClass:
    """Return the class of the first listed verb; behind a verb that writes, nothing only reads."""
    decisive = next((listed for listed in classes if listed != "write"), None)
    if decisive is None or (decisive == "read" and classes[0] == "write"):
        return "write"
    return decisive
