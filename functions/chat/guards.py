"""What ends a turn that does not end by itself, and what the owner is told then."""

from collections.abc import Sequence

from pydantic_core import from_json

from shared.domain.model import ToolCall
from shared.domain.value import value

TOO_MANY_CALLS = (
    "I'm having trouble finding all the information you need. Could you try asking a simpler "
    "question or breaking this into separate questions?"
)
CALL_REPEATED = (
    "I seem to be stuck trying to answer your question. Could you rephrase it in a different way?"
)
TOO_MUCH_CONTEXT = (
    "That's a lot of information to process at once! Could you narrow down your request? Try "
    "asking about a smaller time period or being more specific about what you're looking for."
)
DEADLINE_PASSED = "This is taking longer than it should, so I stopped here. Please try again."
ANSWER_TOO_LONG = "My answer was getting too long, so I stopped here."
INTERNAL_ERROR = "Something went wrong while I was answering. Please try again."
MODEL_DOWN = "The language model cannot be reached at the moment. Please try again in a minute."
STORE_DOWN = "Your chats cannot be read at the moment, so I did not answer. Please try again."
ANSWER_EMPTY = "I have no answer to that. Could you ask in other words?"
ANSWER_INTERRUPTED = "I was interrupted before I could answer. Please ask again."
ANSWER_STOPPED = "You stopped me before I could answer."
QUESTION_NOT_SAVED = (
    "Your question could not be saved, so I did not answer it. Please send it again."
)
ANSWER_WITHHELD = "I can't answer that."
CALL_SKIPPED = (
    "I did not use {tool} of {source}: you did not ask for it in so many words, and I cannot ask "
    "you here. Tell me in your own words what it should do."
)
BUSY = "⚠️ I'm processing a lot of information. Your response might take a moment..."


class LimitReached(Exception):
    """A guard ended the turn; the message is what the owner reads."""


@value
class Limits:
    """How far one question may go."""

    cycles: int = 6
    tool_calls: int = 10
    context_tokens: int = 500_000
    call_timeout_s: float = 30.0
    deadline_s: float = 150.0
    answer_chars: int = 60_000


def check_calls(
    earlier_calls: Sequence[ToolCall], requested_calls: Sequence[ToolCall], limits: Limits
) -> None:
    """Raise Stopped when none of `wanted` may start."""
    if len(earlier_calls) + len(requested_calls) > limits.tool_calls:
        raise LimitReached(TOO_MANY_CALLS)
    if any(_is_repeating(earlier_calls, call) for call in requested_calls):
        raise LimitReached(CALL_REPEATED)


def is_busy(earlier_count: int, requested_count: int, limits: Limits) -> bool:
    """Tell when a question passes 80 % of its calls, so that the owner hears of it once."""
    threshold = limits.tool_calls * 0.8
    return earlier_count < threshold <= earlier_count + requested_count


def _is_repeating(earlier_calls: Sequence[ToolCall], requested_call: ToolCall) -> bool:
    """Two of the last three calls were nearly this one: it will not find more the next time."""
    return sum(_is_similar(call, requested_call) for call in earlier_calls[-3:]) >= 2


def _is_similar(first: ToolCall, second: ToolCall) -> bool:
    if first.name != second.name:
        return False
    a, b = _parse_arguments(first), _parse_arguments(second)
    names = a.keys() | b.keys()
    if not names:
        return True
    equal = sum(name in a and name in b and a[name] == b[name] for name in names)
    return equal / len(names) >= 0.8


def _parse_arguments(call: ToolCall) -> dict[str, object]:
    try:
        arguments = from_json(call.arguments or "{}", allow_inf_nan=False)
    except ValueError:
        return {"": call.arguments}
    return arguments if isinstance(arguments, dict) else {"": arguments}
