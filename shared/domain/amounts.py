"""Amounts in units that people count in, written the same in all languages of ours."""

import math

_SIZES = (("KB", 1_024), ("MB", 1_048_576), ("GB", 1_073_741_824))
_DURATIONS = (("s", 1), ("min", 60), ("h", 3_600))


def describe_bytes(count: int) -> str:
    """Round a size down, to a tenth below ten: what is said to be accepted is.

    A unit is 1,024 of the one below it, which is more than where it is taken for 1,000.
    """
    unit, size = next((each for each in reversed(_SIZES) if count >= each[1]), ("bytes", 1))
    tenths = count * 10 // size
    amount = f"{tenths // 10:,}" if tenths >= 100 or not tenths % 10 else f"{tenths / 10}"
    return f"{amount} {unit}"


def describe_seconds(seconds: float) -> str:
    """Round a time up, in the smallest unit of which it has at most 90."""
    unit, size = next((each for each in _DURATIONS if seconds <= 90 * each[1]), _DURATIONS[-1])
    return f"{math.ceil(seconds / size)} {unit}"
