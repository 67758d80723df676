"""Toolkit of a turn: the tools that are offered, running their calls, and the results' text.

Also called: function calling, tool calling, tool use, tool registry, tool dispatch.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio

from functions.chat.consent.call_words import Item
from functions.chat.context.citations import Citations, free_brackets
from functions.chat.context.numbering import Numbering
from functions.chat.context.result_text import write_for_model
from functions.chat.tools.parsed_call import ParsedCall
from shared import telemetry
from shared.domain.apps.tool_data import ToolData
from shared.domain.chats.chart import Chart
from shared.domain.chats.consent import Standing
from shared.domain.chats.library_change import LibraryChange
from shared.domain.errors import KeepsakeError, ToolFailed, ToolRefused
from shared.domain.ids import AppId
from shared.domain.models.model import ToolSpec
from shared.domain.provenance import LIBRARY, Source, TextKind
from shared.domain.store.sizes import truncate
from shared.domain.value import value
from shared.security.tool_class import ToolClass, is_grave_choice
from shared.security.visible_text import strip_invisible

ResultRenderer = Callable[[Citations], str]
"""Renders the result of a call; it assigns citation numbers, so it runs in call order."""
MAX_RESULT_CHARS = 80_000
TOO_SLOW = "There was no answer within {seconds:g} seconds."
NOT_WORKING = "This does not work at the moment."
CALLED_WRONGLY = "The assistant asked for this in a wrong way. It was told how to correct it."
MAX_SHOWN_CHARS = 2_000
"""Maximum that a client is shown of a result; the model reads more."""


@value
class ToolSearchResult:
    """A rendered result that adds tools: the model may call them from its next cycle on.

    Its text names them and holds nothing but what the tools say about themselves.
    """

    text: str
    tools: Sequence["Tool"] = ()

    def __call__(self, _: Citations) -> str:
        return self.text


@value
class WordedResult:
    """A rendered result whose text is for the model; people are shown `shown_text` instead."""

    render: ResultRenderer
    shown_text: str

    def __call__(self, citations: Citations) -> str:
        return self.render(citations)


@value
class ChangeResult:
    """A rendered result of a call that changed the owner's library; people are shown `shown_text`."""

    text: str
    shown_text: str
    change: LibraryChange

    def __call__(self, _: Citations) -> str:
        return self.text


@value
class OwnResult:
    """A rendered result that brings nobody's words into the turn but our own.

    People are shown `shown_text`, and the `chart` with the answer.
    """

    text: str
    shown_text: str
    chart: Chart | None = None

    def __call__(self, _: Citations) -> str:
        return self.text


@value
class DataResult:
    """A rendered result of a tool of others, which is kept as data beside the answer."""

    data: ToolData

    def __call__(self, _: Citations) -> str:
        return write_for_model(self.data)


@value
class Tool:
    """One tool. `run` gets the arguments and the call's unique id.

    It raises ToolRefused when the model should correct its call, else ToolFailed. `source` is whose
    words it returns, and `reads` their kind where it is not that of its source. `maker` learns its arguments, and has `maker_tools` tools in all; it is empty
    for the owner's library. `pin` names the version that runs, and `standing` says whether the
    owner saw it; with `always_allowed` they are not asked about its calls, except those that give one of `sensitive_arguments`.
    `check` raises ToolRefused for arguments that it would refuse, and so does `name_items`, which returns
    what ids among them stand for.
    The results of one that `is_search` have numbers to cite.
    """

    spec: ToolSpec
    status: str
    run: Callable[[Mapping[str, Any], str], Awaitable[ResultRenderer]]
    source: Source
    tool_class: ToolClass
    sensitive_arguments: Sequence[str] = ()
    is_grantable: bool = True
    check: Callable[[Mapping[str, Any]], Awaitable[object]] | None = None
    name_items: Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Item]]] | None = None
    is_search: bool = False
    reads: TextKind | None = None
    own_name: str = ""
    maker: str = ""
    maker_tools: int = 1
    pin: str = ""
    standing: Standing = "known"
    always_allowed: bool = False

    @property
    def name(self) -> str:
        """Name that the tool has at its source; the model may know it by another."""
        return self.own_name or self.spec.name

    @property
    def text_kind(self) -> TextKind:
        return self.reads or self.source.text_kind

    @property
    def names(self) -> tuple[str, str]:
        """Names by which an agent's owner allows it: the model's, and its own at its source."""
        return self.spec.name, f"{self.source.key}/{self.name}"

    @property
    def allows_always(self) -> bool:
        """Tell whether its owner may allow its calls for always."""
        return self.is_grantable and self.tool_class != "sensitive"

    async def find_refusal(self, arguments: Mapping[str, Any]) -> str:
        """Return why a call is refused for its arguments, so that nobody is asked about it; empty for others."""
        try:
            if self.check is not None:
                await self.check(arguments)
        except ToolRefused as refusal:
            return str(refusal)
        return ""

    async def find_items(self, arguments: Mapping[str, Any]) -> Mapping[str, Item]:
        """Return what ids of the owner's items in a call stand for. Raises ToolRefused."""
        return {} if self.name_items is None else await self.name_items(arguments)

    def is_sensitive(self, arguments: Mapping[str, Any]) -> bool:
        """Tell whether a call is asked about each time."""
        given = (name for name in self.sensitive_arguments if self._is_given(name, arguments))
        return self.tool_class == "sensitive" or any(given) or self._does_by_choice(arguments)

    def _does_by_choice(self, arguments: Mapping[str, Any]) -> bool:
        """Tell whether a tool of others that does several things is told to do a sensitive one."""
        schemas = self.spec.parameters.get("properties", {})
        chosen = ((choice, schemas.get(name, {})) for name, choice in arguments.items())
        return bool(self.maker) and any(is_grave_choice(*each) for each in chosen)

    def _is_given(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Tell whether an argument says something: an empty list may remove all that is there."""
        default = self.spec.parameters["properties"][name].get("default")
        return arguments.get(name) not in (None, default)

    @property
    def app_id(self) -> AppId | None:
        return AppId(self.source.id) if self.source.kind == "app" else None


@value
class ToolOutcome:
    """Result of a call; `failed` when the text is an error.

    `source` is whose words the text holds, None for our own. `connect_url` leads to the page where
    the owner can connect a missing account. `change` is what the call changed in the library, `chart`
    what it draws, `data` what a tool of others returned.
    """

    call_id: str
    text: str
    failed: bool
    source: Source | None
    connect_url: str | None
    change: LibraryChange | None = None
    chart: Chart | None = None
    data: ToolData | None = None
    shown_text: str = ""

    @property
    def values_text(self) -> str:
        """What the model read in a form in which each value stands by itself."""
        return self.data.visible_text if self.data else self.text

    @property
    def display_text(self) -> str:
        """What people are shown: words for them where there are some, else the text, cut."""
        return _truncate(self.shown_text or self.text, MAX_SHOWN_CHARS)


class Toolkit:
    """Tools offered in one turn, and the citations of the turn."""

    def __init__(
        self, tools: Sequence[Tool], *, timeout_s: float, numbering: Numbering | None = None
    ) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._timeout_s = timeout_s
        self.citations = Citations(numbering.copy() if numbering else Numbering())

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    def offer(self, tools: Sequence[Tool]) -> None:
        """Offer these from now on, and no others."""
        self._tools = {tool.spec.name: tool for tool in tools}

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    async def run(
        self,
        calls: Sequence[ParsedCall],
        skip_reasons: Mapping[int, str] | None = None,
        refusals: Mapping[int, str] | None = None,
    ) -> list[ToolOutcome]:
        """Run calls concurrently; return the results in call order.

        A call whose position is in `skip_reasons` or `refusals` is not run: the model reads why instead.
        """
        results = {
            position: _build_skipped(text) for position, text in (skip_reasons or {}).items()
        } | {
            position: _build_skipped(text, CALLED_WRONGLY)
            for position, text in (refusals or {}).items()
        }

        async def run_call(position: int, call: ParsedCall) -> None:
            with telemetry.measure_tool_call(
                call.name if call.name in self._tools else "unknown"
            ) as record:
                results[position] = await self._run_call(call)
                record.failed = results[position].failed

        with telemetry.measure_stage("tools"):
            async with anyio.create_task_group() as tasks:
                for position, call in enumerate(calls):
                    if position not in results:
                        tasks.start_soon(run_call, position, call)
        return [self._to_outcome(call, results[position]) for position, call in enumerate(calls)]

    def _to_outcome(self, call: ParsedCall, result: "_CallResult") -> ToolOutcome:
        source = None if result.is_skipped else self._find_source(call, result)
        text = strip_invisible(result.render(self.citations))
        if source == LIBRARY:  # brackets in the data of others may be arrays
            text = free_brackets(text)
        if isinstance(result.render, ToolSearchResult):
            self._tools |= {tool.spec.name: tool for tool in result.render.tools}
        return ToolOutcome(
            call_id=call.id,
            text=_truncate(text, MAX_RESULT_CHARS),
            failed=result.failed,
            source=source,
            connect_url=result.connect_url,
            change=result.render.change if isinstance(result.render, ChangeResult) else None,
            chart=result.render.chart if isinstance(result.render, OwnResult) else None,
            data=result.render.data if isinstance(result.render, DataResult) else None,
            shown_text=strip_invisible(result.shown_text),
        )

    def _find_source(self, call: ParsedCall, result: "_CallResult") -> Source | None:
        """Return whose words a result holds; a failure of a third party may quote it.

        None for our own texts and failures, and for descriptions of tools, which the model may read anyway.
        """
        tool = self._tools.get(call.name)
        if isinstance(result.render, ToolSearchResult | OwnResult):
            return None
        if tool is None or (result.failed and tool.source.kind == "library"):
            return None
        return tool.source

    async def _run_call(self, call: ParsedCall) -> "_CallResult":
        try:
            with anyio.fail_after(self._timeout_s):
                return _CallResult(render=await self._run_tool(call))
        except ToolFailed as error:
            return replace(_build_failure(str(error)), connect_url=error.connect_url)
        except ToolRefused as refusal:
            return replace(
                _build_failure(str(refusal)), failure_notice=self._describe_refusal(call)
            )
        except TimeoutError:
            failure = _build_failure(
                f"{call.name} did not answer within {self._timeout_s:g} seconds."
            )
            return replace(failure, failure_notice=TOO_SLOW.format(seconds=self._timeout_s))
        except KeepsakeError as error:
            telemetry.warning("tool_failed", tool=call.name, error=type(error).__name__)
        except Exception:  # noqa: BLE001 - one broken tool does not end the turn
            telemetry.error("tool_broken", tool=call.name)
        failure = _build_failure(f"{call.name} does not work at the moment.")
        return replace(failure, failure_notice=NOT_WORKING)

    def _describe_refusal(self, call: ParsedCall) -> str:
        """Return the words for people; what an app itself refuses is its own text."""
        tool = self._tools.get(call.name)
        return "" if tool is not None and tool.source.kind != "library" else CALLED_WRONGLY

    async def _run_tool(self, call: ParsedCall) -> ResultRenderer:
        tool = self._require_tool(call)
        if call.arguments is None:
            raise ToolRefused(call.error)
        return await tool.run(call.arguments, call.unique_id)

    def _require_tool(self, call: ParsedCall) -> Tool:
        tool = self._tools.get(call.name)
        if tool is None:
            available_names = ", ".join(self._tools) or "none"
            raise ToolRefused(f"there is no tool {call.name!r}. Available: {available_names}.")
        return tool


def render_fixed(text: str) -> ResultRenderer:
    """Return a renderer of a fixed text."""
    return lambda _: text


@value
class _CallResult:
    """`is_skipped`: no tool was called. `failure_notice` says for people what failed."""

    render: ResultRenderer
    failed: bool = False
    failure_notice: str = ""
    connect_url: str | None = None
    is_skipped: bool = False

    @property
    def shown_text(self) -> str:
        if isinstance(self.render, WordedResult | ChangeResult | OwnResult):
            return self.render.shown_text
        if isinstance(self.render, DataResult):
            return self.render.data.shown_text or self.render.data.visible_text
        return self.failure_notice


def _build_failure(text: str) -> _CallResult:
    error = text if text.startswith("Error") else f"Error: {text}"
    return _CallResult(render=render_fixed(error), failed=True)


def _build_skipped(text: str, failure_notice: str = "") -> _CallResult:
    return replace(_build_failure(text), failure_notice=failure_notice, is_skipped=True)


def _truncate(text: str, limit: int) -> str:
    return truncate(text, limit, end_chars=limit // 2)
