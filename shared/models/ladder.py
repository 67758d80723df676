"""Ladder of forms: a request is built as strictly as its model takes it, and one step lower after a refusal.

What a refusal names is left out or said otherwise, and the same is asked again. It is remembered only
where a request without anybody's words and without tools of others is refused as well, so that no text and
no app can take anything away from others.
"""

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pydantic_core import to_json

from shared import telemetry
from shared.domain.failure import FailureReason
from shared.domain.models.model import AssistantTurn, ToolLeftOut, ToolResult, ToolSpec, UserText
from shared.domain.models.tokens import estimate_tokens
from shared.domain.value import value
from shared.models.known_models import KnownModels, ModelKey, Step
from shared.models.messages import neutralise
from shared.models.refusals import Refusal, Refused
from shared.models.requests import ModelRequest, build_body
from shared.models.schemas import hash_declaration
from shared.ports import Clock

MAX_REFUSALS = 12
"""Of one request: more steps than any server needs."""
UNEXPLAINED_TOKENS = 4_000
"""An unexplained refusal of more than this may be one of its length."""
CLEARED_FOR = timedelta(hours=1)
"""So long no refusal of the same kind makes us ask whether it is the form."""
MIN_ANSWER_TOKENS = 64
_MAX_TOLD_CHARS = 300
_QUOTED_CHARS = 16
_QUOTED = re.compile(r"(?P<mark>[\"'`])(?:(?!(?P=mark)).){3,}(?P=mark)", re.DOTALL)
_FORM_STATUSES = frozenset((400, 404, 405, 406, 409, 415, 422, 500, 501))
"""Statuses with which servers refuse the form of a request; a template that fails is a 500."""
_SEARCHED_STATUSES = frozenset((400, 406, 415, 422, 501))
_LADDER: Sequence[Step] = (
    "plain_schemas",
    "no_usage",
    "no_effort",
    "no_cache_marks",
    "other_bound",
    "no_bound",
    "text_content",
    "one_system_text",
    "reminder_in_result",
    "alternating",
    "no_system_role",
    "short_ids",
    "single_calls",
    "named_results",
    "wordless_calls",
    "filled_reasoning",
    "no_reasoning_back",
    "json_object",
    "text_answers",
    "no_pictures",
    "calls_as_text",
    "no_tools",
)
"""The order in which steps are tried where a refusal names none."""

Post = Callable[[Mapping[str, Any]], AbstractAsyncContextManager[AsyncIterator[bytes]]]
"""Opens the stream of a body. Raises Refused, and Unavailable without a connection."""


@value
class Attempt:
    """A request in the form in which it is asked next, after so many `refusals`.

    `left_out` are tools of others that were refused on the way.
    """

    request: ModelRequest
    steps: frozenset[Step]
    left_out: tuple[ToolLeftOut, ...] = ()
    has_lowered_bound: bool = False
    refusals: int = 0

    def take(self, step: Step) -> "Attempt":
        return replace(self, steps=self.steps | {step})

    def changes_by(self, step: Step) -> bool:
        """Tell whether a step makes another request of it."""
        if step in self.steps:
            return False
        return build_body(self.request, self.steps) != build_body(self.request, self.steps | {step})


@value
class Answering:
    """An answer that has begun: its bytes, and what was asked for in the end."""

    chunks: AsyncIterator[bytes]
    attempt: Attempt


class Ladder:
    """The forms of one model at one address; what it learns stands in `known`."""

    def __init__(self, post: Post, key: ModelKey, known: KnownModels, clock: Clock) -> None:
        self._post = post
        self._key = key
        self._known = known
        self._clock = clock
        self._cleared: dict[Step | None, datetime] = {}

    @asynccontextmanager
    async def open(
        self,
        request: ModelRequest,
        steps: frozenset[Step] = frozenset(),
        *,
        after: "Attempt | None" = None,
        refusal: Refusal | None = None,
    ) -> AsyncIterator[Answering]:
        """Ask until the server takes the request, with these `steps` taken.

        It goes on `after` an attempt that was refused within its stream. Raises ModelFailed and Unavailable.
        """
        attempt = after or self._begin(request, steps)
        async with AsyncExitStack() as stack:
            while True:
                if refusal is not None:
                    if refusal.generation is not None:
                        yield Answering(chunks=_replay(refusal.generation), attempt=attempt)
                        return
                    attempt = await self._adapt(attempt, refusal)
                try:
                    body = build_body(attempt.request, attempt.steps)
                    chunks = await stack.enter_async_context(self._post(body))
                except Refused as error:
                    refusal = error.refusal
                else:
                    break
            yield Answering(chunks=chunks, attempt=attempt)

    def _begin(self, request: ModelRequest, steps: frozenset[Step]) -> Attempt:
        """Return a request as its model is known to take it."""
        known, now = self._known.get(self._key), self._clock.now()
        if (bound := known.find_answer_tokens(now)) and request.max_tokens:
            request = replace(request, max_tokens=min(request.max_tokens, bound))
        if refused := known.list_refused_tools(now):
            kept = [
                tool
                for tool in request.tools
                if tool.source is None or hash_declaration(tool) not in refused
            ]
            request = replace(request, tools=kept)
        return Attempt(request=request, steps=known.list_steps(now) | steps)

    async def _adapt(self, attempt: Attempt, refusal: Refusal) -> Attempt:
        """Return what to ask next. Raises ModelFailed, and Unavailable where nothing else can be asked."""
        given = [*_list_given(attempt.request)]
        reason = refusal.find_reason(given)
        self._log(attempt, refusal, reason, given)
        attempt = replace(attempt, refusals=attempt.refusals + 1)
        may_change = attempt.refusals < MAX_REFUSALS and refusal.status in _FORM_STATUSES
        if may_change and (changed := await self._leave_out_named(attempt, refusal, given)):
            return changed
        if may_change and (changed := self._obey_bound(attempt, refusal, given)):
            return changed
        if reason == "too_long":
            return self._lower_bound(attempt, refusal, given)
        if may_change and reason in ("other", "unknown_model"):
            changed = await self._step_down(attempt, refusal)
            if changed is None and self._may_be_form(refusal, reason):
                changed = await self._search(attempt)
            if changed is not None:
                return changed
        tokens = sum(map(estimate_tokens, given))
        is_long = refusal.status in (400, 422) and tokens > UNEXPLAINED_TOKENS
        raise refusal.build_error(reason, may_be_too_long=is_long)

    def _may_be_form(self, refusal: Refusal, reason: FailureReason) -> bool:
        """Tell whether it is worth to find out what a refusal that nothing names is about."""
        is_schema = "plain_schemas" in refusal.list_steps()
        return reason == "other" and (refusal.status in _SEARCHED_STATUSES or is_schema)

    def _lower_bound(self, attempt: Attempt, refusal: Refusal, given: Sequence[str]) -> Attempt:
        """Learn the window, and ask once more for a short answer. Raises ModelFailed."""
        request, window = attempt.request, refusal.find_window(given)
        tokens = count_request_tokens(request)
        if window is None or window > 2 * tokens + (request.max_tokens or 0):
            raise refusal.build_error("too_long")
        known = self._known.get(self._key)
        found = replace(
            known,
            window_tokens=window,
            window_source="refusal",
            window_refused_at=self._clock.now(),
        )
        self._known.set(self._key, found)
        room = min(window - tokens, window // 8)
        if attempt.has_lowered_bound or not MIN_ANSWER_TOKENS <= room < (request.max_tokens or 0):
            raise refusal.build_error("too_long")
        request = replace(request, max_tokens=room)
        return replace(attempt, request=request, has_lowered_bound=True)

    def _obey_bound(
        self, attempt: Attempt, refusal: Refusal, given: Sequence[str]
    ) -> Attempt | None:
        """Ask for no more tokens than the server allows, where it says so."""
        bound, request = refusal.find_bound(given), attempt.request
        if bound is None or request.max_tokens is None or bound >= request.max_tokens:
            return None
        if bound >= MIN_ANSWER_TOKENS:
            now = self._clock.now()
            self._known.change(
                self._key, lambda known: replace(known, answer_tokens=bound, answer_refused_at=now)
            )
        return replace(attempt, request=replace(request, max_tokens=bound))

    async def _leave_out_named(
        self, attempt: Attempt, refusal: Refusal, given: Sequence[str]
    ) -> Attempt | None:
        """Leave out the tool of others that a refusal names, if it is refused beside our own words too."""
        names = [tool.name for tool in attempt.request.tools]
        name = refusal.find_tool(names)
        tool = next((tool for tool in attempt.request.tools if tool.name == name), None)
        if tool is None or tool.source is None or await self._probe(attempt, [tool]) is None:
            return None
        return self._leave_out(attempt, [tool], cut_quotes(refusal.words, given))

    def _leave_out(self, attempt: Attempt, tools: Sequence[ToolSpec], words: str) -> Attempt:
        now = self._clock.now()
        for declaration in map(hash_declaration, tools):
            known = self._known.get(self._key)
            self._known.set(self._key, known.refuse_tool(declaration, now))
        names = {tool.name for tool in tools}
        kept = [tool for tool in attempt.request.tools if tool.name not in names]
        events = (ToolLeftOut(name=tool.name, reason=words[:_MAX_TOLD_CHARS]) for tool in tools)
        return replace(
            attempt,
            request=replace(attempt.request, tools=kept),
            left_out=(*attempt.left_out, *events),
        )

    async def _step_down(self, attempt: Attempt, refusal: Refusal) -> Attempt | None:
        """Take the first step that a refusal names and that changes the request."""
        step = next(filter(attempt.changes_by, refusal.list_steps()), None)
        if step is None:
            return None
        if not self._is_cleared(step):
            own_refusal = await self._probe(attempt)
            if own_refusal is None:
                self._clear(step)
            elif step in own_refusal.list_steps():
                self._remember([step])
        return attempt.take(step)

    async def _search(self, attempt: Attempt) -> Attempt | None:
        """Find what an unexplained refusal is about: tools of others, or our form; None for the rest."""
        if self._is_cleared(None):
            return None
        if await self._probe(attempt) is not None:
            return await self._find_form(attempt)
        foreign = [tool for tool in attempt.request.tools if tool.source is not None]
        refused = await self._find_refused(attempt, foreign)
        if refused:
            return self._leave_out(attempt, refused, "The request was refused without a reason.")
        self._clear(None)
        return None

    async def _find_form(self, attempt: Attempt) -> Attempt | None:
        """Find the steps that our own words need: first all, then fewer and fewer."""
        steps = [step for step in _LADDER if step not in attempt.steps]
        needed: list[Step] = []
        if not await self._is_taken(attempt, steps):
            return None
        while steps:  # the last step of the shortest beginning that does is needed
            low, high = 0, len(steps)
            while low < high:
                middle = (low + high) // 2
                if await self._is_taken(attempt, [*needed, *steps[:middle]]):
                    high = middle
                else:
                    low = middle + 1
            if low == 0:
                break
            needed.append(steps[low - 1])
            steps = steps[: low - 1]
        self._remember(needed)
        return replace(attempt, steps=attempt.steps | frozenset(needed))

    async def _is_taken(self, attempt: Attempt, steps: Sequence[Step]) -> bool:
        tried = replace(attempt, steps=attempt.steps | frozenset(steps))
        return await self._probe(tried) is None

    async def _find_refused(self, attempt: Attempt, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
        """Return the tools of others that a server refuses, found by halves."""
        if not tools or await self._probe(attempt, tools) is None:
            return []
        if len(tools) == 1:
            return [*tools]
        middle = len(tools) // 2
        return [
            *await self._find_refused(attempt, tools[:middle]),
            *await self._find_refused(attempt, tools[middle:]),
        ]

    async def _probe(self, attempt: Attempt, foreign: Sequence[ToolSpec] = ()) -> Refusal | None:
        """Ask the same without a word of anybody; None where it is taken. One token is written at most.

        Raises Unavailable and ModelFailed where something else is wrong.
        """
        own = [tool for tool in attempt.request.tools if tool.source is None]
        request = replace(
            attempt.request,
            messages=neutralise(attempt.request.messages),
            tools=[*own, *foreign],
            max_tokens=1 if attempt.request.max_tokens else None,
        )
        try:
            async with self._post(build_body(request, attempt.steps)):
                return None
        except Refused as error:
            reason = error.refusal.find_reason()
            if reason not in ("other", "unknown_model", "too_long") or error.refusal.status == 429:
                raise error.refusal.build_error(reason) from None
            return error.refusal

    def _remember(self, steps: Sequence[Step] | frozenset[Step]) -> None:
        telemetry.warning("model_steps_down", model=self._key[1], steps=sorted(steps))
        now = self._clock.now()
        self._known.change(self._key, lambda known: known.take_steps(steps, now))

    def _is_cleared(self, step: Step | None) -> bool:
        at = self._cleared.get(step)
        return at is not None and self._clock.now() - at < CLEARED_FOR

    def _clear(self, step: Step | None) -> None:
        """Note that our own words are taken as they are: what was refused is at fault."""
        self._cleared[step] = self._clock.now()

    def _log(
        self, attempt: Attempt, refusal: Refusal, reason: FailureReason, given: Sequence[str]
    ) -> None:
        telemetry.warning(
            "model_refused",
            model=self._key[1],
            status=refusal.status,
            reason=reason,
            words=cut_quotes(refusal.words, given)[:_MAX_TOLD_CHARS],
            steps=sorted(attempt.steps),
        )


async def _replay(text: str) -> AsyncIterator[bytes]:
    """Stream what a model wrote and its server could not read, which stands in the refusal."""
    choice = {"delta": {"content": text}, "finish_reason": "stop"}
    yield b"data: " + to_json({"choices": [choice]}) + b"\n\ndata: [DONE]\n\n"


def cut_quotes(words: str, given: Sequence[str]) -> str:
    """Return a server's words without what they quote of the texts that were given to it."""
    words = _QUOTED.sub(lambda match: _hide(match[0], given), words)
    kept: list[str] = []
    start = 0
    while start < len(words):
        piece = words[start : start + _QUOTED_CHARS]
        if len(piece) == _QUOTED_CHARS and any(piece in text for text in given):
            start += _QUOTED_CHARS
            kept += [] if kept[-1:] == ["…"] else ["…"]
        else:
            kept.append(words[start])
            start += 1
    return "".join(kept)


def _hide(quotation: str, given: Sequence[str]) -> str:
    """Return the quotation marks alone where what they hold was given."""
    mark, inner = quotation[0], quotation[1:-1]
    return f"{mark}…{mark}" if any(inner in text for text in given) else quotation


def count_request_tokens(request: ModelRequest) -> int:
    """Estimate the tokens of a request, tools and schema included."""
    return estimate_tokens(to_json(build_body(replace(request, marks_prefixes=False))).decode())


def _list_given(request: ModelRequest) -> Iterator[str]:
    """Yield the texts of a request that are not ours."""
    for message in request.messages:
        if isinstance(message, UserText | ToolResult):
            yield message.text
        elif isinstance(message, AssistantTurn):
            yield message.text
            yield from (call.arguments for call in message.tool_calls)
    for tool in request.tools:
        if tool.source is not None:
            yield f"{tool.name} {tool.description} {tool.parameters}"
