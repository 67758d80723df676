"""Names of our tools: none can be taken by an app (S3)."""

import importlib
import inspect
import itertools
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any, get_args
from zoneinfo import ZoneInfo

import functions
from functions.chat.consent.taint import Taint
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.chart_tools import build_chart_tools
from functions.chat.tools.spoken_memory_tools import Spoken
from functions.chat.tools.tool_offer import MAX_ALWAYS_OFFERED
from functions.chat.tools.toolkit import Tool
from functions.tool_proxy.registry.app_names import find_own_name
from shared.domain.account.profile import Profile
from shared.domain.apps.connection import Connection
from shared.domain.chats.built_in_names import BuiltInToolName
from shared.domain.chats.chat import Session
from shared.domain.chats.consent import Consent
from shared.domain.chats.exercise import ActiveExercise
from shared.domain.chats.focus_mode import FocusMode
from shared.domain.chats.rule import Rule
from shared.domain.ids import FocusModeId, RuleId, SessionId
from shared.domain.provenance import LIBRARY, Source
from shared.integrations import INTEGRATIONS, load_integration
from tests.fixtures.chat import ADA, ChatFixture

APP = Source(kind="app", id="A", name="A")
Samples = Mapping[str, Sequence[Any]]


def test_every_tool_that_a_chat_may_offer_has_a_reserved_name_s3(world: ChatFixture) -> None:
    tools = list(build_all_tools(world))

    names = {tool.spec.name for tool in tools}
    assert {name for name in names if find_own_name(name) is None} == set()
    assert {tool.spec.name for tool in tools if tool.source == LIBRARY} == set(
        get_args(BuiltInToolName)
    )
    assert {tool.source.id for tool in tools if tool.source.kind == "service"} == set(INTEGRATIONS)


def test_every_service_and_each_of_its_tools_has_a_reserved_name_s3() -> None:
    services = [load_integration(name) for name in INTEGRATIONS]
    names = [name for each in services for name in (each.label, *(t.name for t in each.tools))]

    assert [name for name in names if find_own_name(name) is None] == []


def test_every_builder_of_tools_is_called_by_another_module_s3() -> None:
    used = {
        name
        for module in list_modules()
        for name, member in vars(module).items()
        if inspect.isfunction(member) and member.__module__ != module.__name__
    }

    assert {build.__name__ for build in find_builders()} - used == set()


def build_all_tools(world: ChatFixture) -> Iterator[Tool]:
    """Build what every builder of tools makes, in each state that decides about a tool."""
    samples = build_samples(world)
    for build in find_builders():
        required = [
            name
            for name, parameter in inspect.signature(build).parameters.items()
            if parameter.default is parameter.empty
        ]
        for chosen in itertools.product(*(samples[name] for name in required)):
            built = build(**dict(zip(required, chosen, strict=True)))
            tools = [built] if isinstance(built, Tool) else built or ()
            yield from (tool for tool in tools if tool.source != APP)


def find_builders() -> Iterator[Callable[..., Any]]:
    """Yield every public function of the functions that returns tools."""
    for module in list_modules():
        for name, member in inspect.getmembers(module):
            is_own = inspect.isfunction(member) and member.__module__ == module.__name__
            if is_own and not name.startswith("_") and mentions_tool(member):
                yield member


@cache
def list_modules() -> list[ModuleType]:
    """Import every module of the functions but their entry points, which start when they are imported."""
    found = pkgutil.walk_packages(functions.__path__, "functions.")
    return [importlib.import_module(each.name) for each in found if not each.name.endswith(".main")]


def mentions_tool(function: Callable[..., Any]) -> bool:
    returned = function.__annotations__.get("return")
    return function is not build_builtin_tool and Tool in (returned, *get_args(returned))


def build_samples(world: ChatFixture) -> Samples:
    """Give what builders ask for, by name: a builder that asks for more needs a sample here."""
    deps, now = world.deps(), world.clock.now()
    session = Session(id=SessionId("s"), created_at=now, updated_at=now)
    mode = FocusMode(id=FocusModeId("m"), name="Writing", instructions="Be brief.")
    connections = [Connection(id=n, account="", scopes=(), connected_at=now) for n in INTEGRATIONS]
    [tool] = build_chart_tools()
    return {
        "deps": [deps],
        "toolbox": [world.toolbox],
        "uid": [ADA],
        "zone": [ZoneInfo("UTC")],
        "session": [session, replace(session, exercise=ActiveExercise(id="breath"))],
        "profile": [Profile(recalls_memories=False)],
        "modes": [(mode,)],
        "rules": [(Rule(id=RuleId("r"), text="Be brief.", created_at=now),)],
        "said": [{}],
        "spoken": [Spoken()],
        "taint": [Taint([])],
        "can_search": [True, False],
        "connections": [connections],
        "consent": [Consent()],
        "apps": [()],
        "tools": [[build_app_tool(tool, n) for n in range(MAX_ALWAYS_OFFERED + 1)]],
        "question": ["Draw"],
        "needed": [()],
        "max_tokens": [100],
    }


def build_app_tool(tool: Tool, number: int) -> Tool:
    return replace(tool, source=APP, spec=replace(tool.spec, name=f"tool_{number}"))
