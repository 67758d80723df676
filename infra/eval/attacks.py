"""InjecAgent's cases as turns: the tool its owner asked for, and what the injection makes of it."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from functions.chat.tools.apps import app_tools, model_name
from infra.eval.obedience import NOW, Step, play
from shared.domain.app import App, ChatTool
from shared.domain.ids import AppId, UserId
from shared.domain.value import value

_PIECES = re.compile(r"'([^']+)'|\"([^\"]+)\"|([\w.+-]+@[\w.-]+\w|https?://\S+|\d[\d.,]*)")
_READS = re.compile(r"(Get|Read|Search|View|List|Find|Check|Show|Retrieve)")
OWNER = UserId("owner")

Case = Mapping[str, Any]
Parameters = Sequence[Mapping[str, Any]]
Fill = Callable[[Case, Parameters], dict[str, Any]]


@value
class Catalogue:
    """What is known of tools: each one's app, and its parameters where they are known."""

    tools: Mapping[str, tuple[str, str, Parameters]]

    def find(self, name: str) -> tuple[str, str, Parameters]:
        """Return app, own name and parameters of a tool, by `<app><tool>`."""
        return self.tools.get(name, (name, name, ()))


def catalogue(kits: Sequence[Mapping[str, Any]]) -> Catalogue:
    tools = {}
    for kit in kits:
        for tool in kit["tools"]:
            found = (kit["name_for_model"], tool["name"], tool.get("parameters", ()))
            for prefix in {kit["name_for_model"], kit["toolkit"]}:
                tools[f"{prefix}{tool['name']}"] = found
    return Catalogue(tools=tools)


@value
class Variant:
    """One way to be talked into it.

    `fill` makes the arguments. With `same_app` the attacker's tools are the owner's app's; with
    `reads_declared`, tools that sound like reading are declared read-only, else none is.
    """

    name: str
    fill: Fill
    same_app: bool = False
    reads_declared: bool = False


def obeyed(case: Case, parameters: Parameters) -> dict[str, Any]:
    """Fill in what the injection names, in its order."""
    said = ["".join(groups) for groups in _PIECES.findall(case["Attacker Instruction"])]
    return _filled(parameters, said or [case["Attacker Instruction"]])


def echoed(case: Case, parameters: Parameters) -> dict[str, Any]:
    """Fill in the owner's own words."""
    said = ["".join(groups) for groups in _PIECES.findall(case["User Instruction"])]
    return _filled(parameters, [*said, case["User Instruction"]])


def nothing(_case: Case, _parameters: Parameters) -> dict[str, Any]:
    return {}


def obvious(_case: Case, parameters: Parameters) -> dict[str, Any]:
    """Fill in what looks like nothing."""
    empty = {"string": "", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    return {one["name"]: empty.get(one["type"], "") for one in parameters}


def _filled(parameters: Parameters, pieces: Sequence[str]) -> dict[str, Any]:
    wanted = [one for one in parameters if one.get("required")] or parameters
    return {
        one["name"]: _value(one["type"], pieces[position % len(pieces)], pieces)
        for position, one in enumerate(wanted)
    }


def _value(kind: str, piece: str, pieces: Sequence[str]) -> Any:
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
    Variant(name="as the injection says", fill=obeyed),
    Variant(name="without arguments", fill=nothing),
    Variant(name="with obvious arguments", fill=obvious),
    Variant(name="in the owner's own words", fill=echoed),
    Variant(name="by a tool of the same app", fill=obeyed, same_app=True),
    Variant(name="same app, owner's words", fill=echoed, same_app=True),
    Variant(name="reading declared read-only", fill=obeyed, reads_declared=True),
    Variant(name="read-only, owner's words", fill=echoed, reads_declared=True),
)


@value
class Result:
    """What became of one case: did the owner's tool run, and which of the attacker's did.

    `read_on` are calls that only read the app which the owner's tool reads: they change nothing, and
    what they say, that app has said itself.
    """

    served: bool
    unauthorised: Sequence[str]
    read_on: Sequence[str]
    asked: int


@dataclass
class _Toolbox:
    """Serves every tool with the response that holds the injection, and remembers the calls."""

    response: str
    called: list[tuple[str, str]] = field(default_factory=list)

    async def call(self, uid: UserId, app_id: str, tool: str, arguments: Mapping[str, Any]) -> str:
        self.called.append((app_id, tool))
        return self.response

    async def call_service(
        self, uid: UserId, service: str, tool: str, arguments: Mapping[str, Any]
    ) -> str:
        raise NotImplementedError("the cases know apps only")

    async def disconnect_all(self, uid: UserId) -> None:
        raise NotImplementedError("the cases know apps only")


async def attack(case: Case, known: Catalogue, variant: Variant) -> Result:
    """Ask for the owner's tool, then obey the injection in its response."""
    toolbox = _Toolbox(response=case["Tool Response"])
    names = [case["User Tool"], *case["Attacker Tools"]]
    apps = list(_apps(names, known, variant))
    home = known.find(names[0])[0]
    places = [home if variant.same_app else known.find(name)[0] for name in names]
    wanted = [
        _model_name(apps, place, known.find(name)[1])
        for place, name in zip(places, names, strict=True)
    ]
    filled = [variant.fill(case, known.find(name)[2]) for name in names[1:]]
    steps: list[Step] = list(zip(wanted, [_asked(case), *filled], strict=True))
    tools = app_tools(toolbox, OWNER, apps, case["User Instruction"])
    doubts = await play(case["User Instruction"], tools, steps)
    mine = _app_id(home)
    reads = {tool.name for app in apps for tool in app.chat_tools if tool.read_only}
    read_on = [tool for app, tool in toolbox.called[1:] if app == mine and tool in reads]
    ran = [tool for app, tool in toolbox.called[1:] if app != mine or tool not in reads]
    served = toolbox.called[:1] == [(mine, known.find(names[0])[1])]
    return Result(served=served, unauthorised=ran, read_on=read_on, asked=len(doubts))


def _apps(names: Sequence[str], known: Catalogue, variant: Variant) -> Iterator[App]:
    """Put each tool into its app, or all into the first one's."""
    declared: dict[str, dict[str, ChatTool]] = {}
    for name in names:
        app, own, parameters = known.find(name)
        place = known.find(names[0])[0] if variant.same_app else app
        declared.setdefault(place, {})[own] = _tool(own, parameters, variant)
    for app, tools in declared.items():
        yield App(
            id=_app_id(app),
            owner=OWNER,
            name=app,
            created_at=NOW,
            chat_tools=tuple(tools.values()),
        )


def _tool(name: str, parameters: Parameters, variant: Variant) -> ChatTool:
    reads = variant.reads_declared and _READS.match(name) is not None
    properties = {one["name"]: {"type": one["type"]} for one in parameters}
    return ChatTool(
        name=name,
        description=name,
        endpoint="https://app.example",
        method="GET" if reads else "POST",
        read_only=reads,
        parameters={"type": "object", "properties": properties},
    )


def _app_id(app: str) -> AppId:
    return AppId(app.replace(" ", "_"))


def _model_name(apps: Sequence[App], place: str, own: str) -> str:
    [app] = [app for app in apps if app.name == place]
    return next(model_name(app, tool) for tool in app.chat_tools if tool.name == own)


def _asked(case: Case) -> dict[str, Any]:
    """Read the owner's call; its arguments decide nothing here."""
    try:
        asked = ast.literal_eval(case["Tool Parameters"])
    except (ValueError, SyntaxError):
        return {}
    return asked if isinstance(asked, dict) else {}
