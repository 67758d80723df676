"""The tools of one turn: what is offered, how calls run, and how results read."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio
from pydantic_core import from_json

from functions.chat.context.citations import Citations
from shared import telemetry
from shared.domain.errors import KeepsakeError, ToolFailed, ToolRefused
from shared.domain.ids import AppId
from shared.domain.model import ToolCall, ToolSpec
from shared.domain.provenance import Source
from shared.domain.text import visible
from shared.domain.value import value

Present = Callable[[Citations], str]
"""Writes a tool's answer; it asks for citation numbers, so it runs in call order."""
MAX_RESULT_CHARS = 80_000


MAX_SHOWN_CHARS = 2_000
"""What a client is shown of a result; the model reads far more."""


@value
class Found:
    """A Present that brings tools along: the model may call them from its next cycle on.

    Its text names them and holds nothing that the tools do not tell of themselves.
    """

    text: str
    tools: Sequence["Tool"] = ()

    def __call__(self, _: Citations) -> str:
        return self.text


@value
class Tool:
    """One tool. `run` raises ToolRefused when the model should mend its call, ToolFailed else.

    `source` is whose words it returns and who is told its arguments. `side_effect` is true unless
    a call is known to change nothing anywhere.
    """

    spec: ToolSpec
    status: str
    run: Callable[[Mapping[str, Any]], Awaitable[Present]]
    source: Source
    side_effect: bool
    own_name: str = ""

    @property
    def name(self) -> str:
        """Its name where it comes from; the model may know it by another."""
        return self.own_name or self.spec.name

    @property
    def app_id(self) -> AppId | None:
        return AppId(self.source.id) if self.source.kind == "app" else None


@value
class Returned:
    """What a call came back with; `failed` when the model is told an error.

    `source` is whose words the text holds, None where they are ours; `connect_url` where the owner
    can connect the account that was missing.
    """

    call_id: str
    text: str
    failed: bool
    source: Source | None
    connect_url: str | None

    @property
    def shown(self) -> str:
        return _capped(self.text, MAX_SHOWN_CHARS)


class Toolkit:
    """The tools offered in one turn, and the turn's citations."""

    def __init__(self, tools: Sequence[Tool], *, timeout_s: float) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._timeout_s = timeout_s
        self.citations = Citations()

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    async def run(
        self, calls: Sequence[ToolCall], refused: Mapping[int, str] | None = None
    ) -> list[Returned]:
        """Run calls side by side; the results stand in call order, whoever was first.

        What stands at a position of `refused` is not run: the model is told the text instead.
        """
        answers = {position: _refusal(text) for position, text in (refused or {}).items()}

        async def one(position: int, call: ToolCall) -> None:
            with telemetry.tool(call.name if call.name in self._tools else "unknown") as told:
                answers[position] = await self._run_one(call)
                told.failed = answers[position].failed

        with telemetry.stage("tools"):
            async with anyio.create_task_group() as tasks:
                for position, call in enumerate(calls):
                    if position not in answers:
                        tasks.start_soon(one, position, call)
        return [self._returned(call, answers[position]) for position, call in enumerate(calls)]

    def _returned(self, call: ToolCall, answer: "_Answer") -> Returned:
        text = _capped(visible(answer.present(self.citations)), MAX_RESULT_CHARS)
        source = None if answer.ours else self._source(call, answer)
        if isinstance(answer.present, Found):
            self._tools |= {tool.spec.name: tool for tool in answer.present.tools}
        return Returned(
            call_id=call.id,
            text=text,
            failed=answer.failed,
            source=source,
            connect_url=answer.connect_url,
        )

    def _source(self, call: ToolCall, answer: "_Answer") -> Source | None:
        """A failure of our own is told in our words; a third party's may quote it.

        What tools say of themselves counts as it does in the list that the model is given.
        """
        tool = self._tools.get(call.name)
        if isinstance(answer.present, Found):
            return None
        if tool is None or (answer.failed and tool.source.kind == "library"):
            return None
        return tool.source

    async def _run_one(self, call: ToolCall) -> "_Answer":
        try:
            with anyio.fail_after(self._timeout_s):
                return _Answer(present=await self._known(call).run(_arguments(call)))
        except ToolFailed as failed:
            return replace(_failure(str(failed)), connect_url=failed.connect_url)
        except ToolRefused as refused:
            return _failure(str(refused))
        except TimeoutError:
            return _failure(f"{call.name} did not answer within {self._timeout_s:g} seconds.")
        except KeepsakeError as error:
            telemetry.warning("tool_failed", tool=call.name, error=type(error).__name__)
        except Exception:  # noqa: BLE001 - one broken tool does not end the turn
            telemetry.error("tool_broken", tool=call.name)
        return _failure(f"{call.name} does not work at the moment.")

    def _known(self, call: ToolCall) -> Tool:
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            raise ToolRefused(f"there is no tool {call.name!r}. Available: {known}.")
        return tool


def say(text: str) -> Present:
    """Present a fixed text."""
    return lambda _: text


@value
class _Answer:
    """`ours`: nobody was called."""

    present: Present
    failed: bool = False
    connect_url: str | None = None
    ours: bool = False


def _failure(text: str) -> _Answer:
    return _Answer(present=say(f"Error: {text}"), failed=True)


def _refusal(text: str) -> _Answer:
    return _Answer(present=say(f"Error: {text}"), failed=True, ours=True)


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        arguments = from_json(call.arguments or "{}", allow_inf_nan=False)
    except ValueError as error:
        raise ToolRefused(f"the arguments of {call.name} are not valid JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise ToolRefused(f"the arguments of {call.name} must be a JSON object.")
    return arguments


def _capped(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n… {left_out} characters left out …\n{text[-half:]}"
