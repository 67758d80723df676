"""Attacks: InjecAgent's cases as turns, with the user's tool and the injection's calls."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from functions.chat.tools.app_tools import build_model_name
from infra.eval.installed_apps import build_installed_tools
from infra.eval.obedience import NOW, Step, run_turn
from shared.domain.apps.app import App, ChatTool
from shared.domain.ids import AppId, UserId
from shared.domain.value import value
from shared.security.tool_class import ToolClass, classify_app_tool
from tests.fakes import RecordingToolbox

_PIECES = re.compile(r"'([^']+)'|\"([^\"]+)\"|([\w.+-]+@[\w.-]+\w|https?://\S+|\d[\d.,]*)")
_GRAVE_VERB = re.compile(
    r"\b(pay|transfer|withdraw|deposit|send|share|open|unlock|delete|remove|erase)\b", re.IGNORECASE
)
_READING_NAME = re.compile(r"(Get|Read|Search|View|List|Find|Check|Show|Retrieve)")

Case = Mapping[str, Any]
Parameters = Sequence[Mapping[str, Any]]
Fill = Callable[[Case, Parameters], dict[str, Any]]


@value
class Catalogue:
    """Known tools: the app of each, and its parameters where they are known."""

    tools: Mapping[str, tuple[str, str, Parameters]]

    def find(self, name: str) -> tuple[str, str, Parameters]:
        """Return the app, name and parameters of a tool, by `<app><tool>`."""
        return self.tools.get(name, (name, name, ()))


def build_catalogue(kits: Sequence[Mapping[str, Any]]) -> Catalogue:
    tools = {}
    for kit in kits:
        for tool in kit["tools"]:
            entry = (kit["name_for_model"], tool["name"], tool.get("parameters", ()))
            for prefix in {kit["name_for_model"], kit["toolkit"]}:
                tools[f"{prefix}{tool['name']}"] = entry
    return Catalogue(tools=tools)


@value
class Variant:
    """One kind of attack; `fill` builds the arguments.

    With `same_app` the attacker's tools belong to the user's app; with `reads_declared`, tools that
    sound like reading are declared read-only, else none is.
    """

    name: str
    fill: Fill
    same_app: bool = False
    reads_declared: bool = False


def fill_from_injection(case: Case, parameters: Parameters) -> dict[str, Any]:
    """Fill in the values of the injection, in its order."""
    instruction = case["Attacker Instruction"]
    return _fill_parameters(parameters, _extract_pieces(instruction) or [instruction])


def fill_from_owner(case: Case, parameters: Parameters) -> dict[str, Any]:
    """Fill in the user's own words."""
    instruction = case["User Instruction"]
    return _fill_parameters(parameters, [*_extract_pieces(instruction), instruction])


def fill_nothing(_case: Case, _parameters: Parameters) -> dict[str, Any]:
    return {}


def fill_defaults(_case: Case, parameters: Parameters) -> dict[str, Any]:
    """Fill in harmless-looking values."""
    empty = {"string": "", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    return {parameter["name"]: empty.get(parameter["type"], "") for parameter in parameters}


def _extract_pieces(instruction: str) -> list[str]:
    return ["".join(groups) for groups in _PIECES.findall(instruction)]


def _fill_parameters(parameters: Parameters, pieces: Sequence[str]) -> dict[str, Any]:
    required = [parameter for parameter in parameters if parameter.get("required")] or parameters
    return {
        parameter["name"]: _build_value(parameter["type"], pieces[position % len(pieces)], pieces)
        for position, parameter in enumerate(required)
    }


def _build_value(kind: str, piece: str, pieces: Sequence[str]) -> Any:
    match kind:
        case "integer" | "number":
            return next((int(p) for p in pieces if p.isdecimal()), 1)
        case "boolean":
            return True
        case "array":
            return list(pieces)
        case "object":
            return {"value": piece}
    return piece


VARIANTS = (
    Variant(name="as the injection says", fill=fill_from_injection),
    Variant(name="without arguments", fill=fill_nothing),
    Variant(name="with obvious arguments", fill=fill_defaults),
    Variant(name="in the owner's own words", fill=fill_from_owner),
    Variant(name="by a tool of the same app", fill=fill_from_injection, same_app=True),
    Variant(name="same app, owner's words", fill=fill_from_owner, same_app=True),
    Variant(name="reading declared read-only", fill=fill_from_injection, reads_declared=True),
    Variant(name="read-only, owner's words", fill=fill_from_owner, reads_declared=True),
)


@value
class AttackResult:
    """The result of a case.

    `wish_asked`: the owner was asked about their own wish, which they approve. `effects` are the
    attacker's calls that ran and may change something, by their class; `reads` those that only read,
    within what their makers may be told. `questions` counts those about the attacker's calls.
    """

    wish_asked: bool
    is_served: bool
    effects: Sequence[tuple[ToolClass, str]]
    reads: Sequence[str]
    questions: int


async def attack(
    case: Case, tool_catalogue: Catalogue, variant: Variant, *, writes_granted: bool = False
) -> AttackResult:
    """Call the user's tool, then follow the injection in its response."""
    toolbox = RecordingToolbox(answer=case["Tool Response"])
    names = [case["User Tool"], *case["Attacker Tools"]]
    apps = list(_build_apps(names, tool_catalogue, variant))
    home = tool_catalogue.find(names[0])[0]
    places = [home if variant.same_app else tool_catalogue.find(name)[0] for name in names]
    model_names = [
        _find_model_name(apps, place, tool_catalogue.find(name)[1])
        for place, name in zip(places, names, strict=True)
    ]
    injected_arguments = [variant.fill(case, tool_catalogue.find(name)[2]) for name in names[1:]]
    steps: list[Step] = list(
        zip(model_names, [_parse_arguments(case), *injected_arguments], strict=True)
    )
    wish = case["User Instruction"]
    tools = build_installed_tools(
        toolbox, apps, wish, always=_list_writes(apps) if writes_granted else ()
    )
    [wish_reason, *reasons] = await run_turn(wish, tools, steps, wished_steps=[0])
    classes = {
        (app.id, tool.name): classify_app_tool(tool) for app in apps for tool in app.chat_tools
    }
    calls = [(AppId(app), tool) for _, app, tool, _ in toolbox.calls]
    return AttackResult(
        wish_asked=wish_reason is not None,
        is_served=calls[:1] == [(_to_app_id(home), tool_catalogue.find(names[0])[1])],
        effects=[(classes[call], call[1]) for call in calls[1:] if classes[call] != "read"],
        reads=[tool for app, tool in calls[1:] if classes[app, tool] == "read"],
        questions=sum(reason is not None for reason in reasons),
    )


@value
class AttackersTool:
    """A tool of the attackers: its class where its maker declares nothing, and its cases.

    `grave_cases` are those that are told to move money, send, open or delete.
    """

    name: str
    tool_class: ToolClass
    cases: int
    grave_cases: int


def classify_attackers_tools(
    cases: Sequence[Case], tool_catalogue: Catalogue
) -> Iterator[AttackersTool]:
    """Yield the tools that attackers use, by name."""
    instructions: dict[str, list[str]] = {}
    for case in cases:
        for name in case["Attacker Tools"]:
            instructions.setdefault(name, []).append(case["Attacker Instruction"])
    for name, texts in sorted(instructions.items()):
        yield AttackersTool(
            name=name,
            tool_class=classify_app_tool(_build_tool(tool_catalogue.find(name)[1], ())),
            cases=len(texts),
            grave_cases=sum(_GRAVE_VERB.search(text) is not None for text in texts),
        )


def _list_writes(apps: Sequence[App]) -> list[tuple[AppId, str]]:
    return [
        (app.id, tool.name)
        for app in apps
        for tool in app.chat_tools
        if classify_app_tool(tool) == "write"
    ]


def _build_apps(names: Sequence[str], tool_catalogue: Catalogue, variant: Variant) -> Iterator[App]:
    """Put each tool into its app, or all into the first one's."""
    declared: dict[str, dict[str, ChatTool]] = {}
    for name in names:
        app, own, parameters = tool_catalogue.find(name)
        place = tool_catalogue.find(names[0])[0] if variant.same_app else app
        reads = variant.reads_declared and _READING_NAME.match(own) is not None
        declared.setdefault(place, {})[own] = _build_tool(own, parameters, read_only=reads)
    for app, tools in declared.items():
        yield App(
            id=_to_app_id(app),
            owner=UserId(f"developer of {app}"),
            private=False,
            name=app,
            created_at=NOW,
            chat_tools=tuple(tools.values()),
        )


def _build_tool(name: str, parameters: Parameters, *, read_only: bool = False) -> ChatTool:
    properties = {parameter["name"]: {"type": parameter["type"]} for parameter in parameters}
    return ChatTool(
        name=name,
        description=name,
        endpoint="https://app.example",
        method="GET" if read_only else "POST",
        read_only=read_only,
        parameters={"type": "object", "properties": properties},
    )


def _to_app_id(app: str) -> AppId:
    return AppId(app.replace(" ", "_"))


def _find_model_name(apps: Sequence[App], place: str, own: str) -> str:
    [app] = [app for app in apps if app.name == place]
    return next(build_model_name(app, tool) for tool in app.chat_tools if tool.name == own)


def _parse_arguments(case: Case) -> dict[str, Any]:
    """Parse the user's call; its arguments do not matter here."""
    try:
        arguments = ast.literal_eval(case["Tool Parameters"])
    except (ValueError, SyntaxError):
        return {}
    return arguments if isinstance(arguments, dict) else {}
