"""Limits of a turn: how near it is to that of its tool calls, and a model that repeats itself.

Also called: loop detection, max steps.
"""

from collections.abc import Mapping, Sequence

from functions.chat import user_texts
from functions.chat.deps import Limits
from functions.chat.tools.parsed_call import ParsedCall


class LimitReached(Exception):
    """A limit ended the turn; the message is the text that the owner reads."""


def check_calls(earlier_calls: Sequence[ParsedCall], requested_calls: Sequence[ParsedCall]) -> None:
    """Raise LimitReached when none of `requested_calls` may start, because one is made over and over."""
    if any(_is_repeating(earlier_calls, call) for call in requested_calls):
        raise LimitReached(user_texts.CALL_REPEATED)


def is_busy(earlier_count: int, requested_count: int, limits: Limits) -> bool:
    """Tell whether these calls pass 80 % of the limit, so that the owner is told once."""
    threshold = limits.tool_calls * 0.8
    return earlier_count < threshold <= earlier_count + requested_count


def _is_repeating(earlier_calls: Sequence[ParsedCall], requested_call: ParsedCall) -> bool:
    """Tell whether two of the last three calls were nearly the same as this one."""
    return sum(_is_similar(call, requested_call) for call in earlier_calls[-3:]) >= 2


def _is_similar(first: ParsedCall, second: ParsedCall) -> bool:
    if first.name != second.name:
        return False
    a, b = _list_arguments(first), _list_arguments(second)
    names = a.keys() | b.keys()
    if not names:
        return True
    equal = sum(name in a and name in b and a[name] == b[name] for name in names)
    return equal / len(names) >= 0.8


def _list_arguments(call: ParsedCall) -> Mapping[str, object]:
    return {"": call.request.arguments} if call.arguments is None else call.arguments
