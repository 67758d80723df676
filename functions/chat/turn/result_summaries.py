"""Result summaries: what the tools of an answer found, in a sentence or two for later turns.

An owner may want them; without one, later turns read only what a tool was asked.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

from functions.chat.context import window
from functions.chat.context.budget import cut_text
from functions.chat.context.citations import free_brackets
from functions.chat.context.history import pair_answers
from functions.chat.context.model_words import select_model_words
from functions.chat.deps import AfterTurnDeps
from functions.chat.notes.model_outputs import ResultSummariesOutput
from shared import prompts
from shared.domain.account.profile import Profile
from shared.domain.chats.chat import Message
from shared.domain.chats.steps import CallStep, Step
from shared.domain.errors import ModelFailed, NotFound
from shared.domain.ids import UserId
from shared.domain.models.model import Prompt
from shared.library.user_model import load_model
from shared.models.data_room import fit_prompt
from shared.security.visible_text import strip_invisible

MAX_SUMMARY_TOKENS = 60
MAX_TEXT_CHARS = 4_000
"""Of the question, and of the answer."""
MAX_ARGUMENTS_CHARS = 500
PROMPT_NAME = "chat/result_summaries"
ANSWER_TOKENS = 2_000
"""A sentence or two for each of a dozen calls."""


async def summarise_results(
    deps: AfterTurnDeps, uid: UserId, profile: Profile, newest_first: Sequence[Message]
) -> None:
    """Summarise what the last answer of these messages found, once, if its owner wants that.

    Where the model fails, the results stay replaced by a fixed sentence. Raises Unavailable when a
    retry may help.
    """
    if not profile.summarises_results:
        return
    exchanges = pairwise(pair_answers(newest_first[: window.MIN_VERBATIM][::-1]))
    last = next(((q, a) for q, a in reversed(list(exchanges)) if _list_calls(a)), None)
    if last is not None:
        await _summarise(deps, uid, *last)


def _list_calls(answer: Message) -> list[CallStep]:
    """Return the calls of an answer that found something; none where one is summarised already."""
    calls = [step for step in answer.steps if isinstance(step, CallStep)]
    if any(call.summary for call in calls):
        return []
    return [call for call in calls if call.state == "done" and call.output]


async def _summarise(deps: AfterTurnDeps, uid: UserId, question: Message, answer: Message) -> None:
    calls = _list_calls(answer)
    model = await load_model(deps, uid, chat=answer.session_id, urgency="soon")
    prompt = fit_prompt(model, "fast", _build_prompt(question, answer, calls))
    try:
        output = await model.complete_structured("fast", prompt, ResultSummariesOutput)
    except ModelFailed:
        return
    summaries = {
        calls[each.number - 1].call_id: trim_summary(each.summary)
        for each in output.results
        if 0 < each.number <= len(calls)
    }
    if any(summaries.values()):
        with suppress(NotFound):  # its chat was deleted meanwhile
            await deps.stores.messages.change_steps(
                uid, answer.id, _add_summaries(answer.steps, summaries)
            )


def _add_summaries(steps: Sequence[Step], summaries: Mapping[str, str]) -> list[Step]:
    return [
        replace(step, summary=summaries.get(step.call_id, ""), found="")
        if isinstance(step, CallStep)
        else step
        for step in steps
    ]


def trim_summary(summary: str) -> str:
    """Fit a summary to its limit, in one line that cites nothing."""
    line = " ".join(strip_invisible(summary).split())
    return cut_text(free_brackets(line), MAX_SUMMARY_TOKENS)


def _build_prompt(question: Message, answer: Message, calls: Sequence[CallStep]) -> Prompt:
    return prompts.build_prompt(
        PROMPT_NAME,
        {
            "question": question.text[:MAX_TEXT_CHARS],
            "answer": select_model_words(answer)[:MAX_TEXT_CHARS],
            "results": [_describe(number, call) for number, call in enumerate(calls, start=1)],
        },
        answer_tokens=ANSWER_TOKENS,
    )


def _describe(number: int, call: CallStep) -> Mapping[str, Any]:
    return {
        "number": number,
        "tool": call.tool,
        "arguments": call.arguments[:MAX_ARGUMENTS_CHARS],
        "found": call.found or call.output,
    }
