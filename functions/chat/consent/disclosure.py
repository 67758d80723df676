"""Disclosure: the bits that a tool call tells its receiver beyond what they may be told anyway.

The cost of a call is the length of its code word in one prefix code: a decoder that knows the tools of
a maker, the schema, the user's message, what the same app returned earlier and the date could read the
call back from that many bits. So no family of calls carries more than the budget (Kraft's inequality),
whatever the calls look like. The code covers all that the receiver can see: the tool, keys that are
there, lengths, elements, spelling. What it does not cover is made canonical: Unicode NFC, single
spaces, keys in the order of the schema, whole numbers without a point.

Also called: data exfiltration defence, data leakage limit.
"""

from collections.abc import Mapping
from math import inf, isfinite, log2
from typing import Any, Final

from functions.chat.consent.argument_schema import (
    ArgumentSchema,
    build_choice_key,
    normalize_number,
    read_schema,
)
from functions.chat.consent.known_text import KnownText, normalize_text, spell_number
from functions.chat.consent.literal_code import measure_length, measure_number, measure_text
from functions.chat.consent.public_codes import measure_public_code
from functions.chat.consent.time_code import begin_day, measure_clock, measure_time, parse_time
from shared.domain.value import value

TURN_BUDGET_BITS: Final = 48.0
DAY_BUDGET_BITS: Final = 1_024.0
CLEAN_DAY_BUDGET_BITS: Final = 4_096.0
"""Of clean turns, whose calls can depend on nothing but the message: it bounds what nobody expects."""

_CALL_BITS: Final = 2.0
"""Another call, and not the end of the turn: all sequences of calls share one code."""
_PRESENT, _ABSENT = -log2(0.3), -log2(0.7)
_REQUIRED_PRESENT, _REQUIRED_ABSENT = -log2(0.98), -log2(0.02)
_MORE_KEYS, _NO_MORE_KEYS = -log2(0.03), -log2(0.97)
_MORE_EXPECTED_KEYS, _NO_MORE_EXPECTED_KEYS = -log2(0.4), -log2(0.6)
_ANYTHING: Final[Mapping[str, Any]] = {}
_MAX_DEPTH: Final = 64
_MAX_NUMBER_BITS: Final = 4_096
"""A larger integer costs more than any budget, and Python refuses to spell much larger ones."""


@value
class Disclosure:
    """The measured call. `bits` is inf beyond the limit; then `arguments` are those that were given.

    `arguments` is the canonical form that was counted: what is sent must be exactly this, with the keys
    in this order.
    """

    bits: float
    arguments: Mapping[str, Any]


class _OverLimit(Exception):
    """The call costs more than the limit; the rest is not measured."""


def measure_disclosure(
    arguments: Mapping[str, Any], schema: Any, known: KnownText, *, tools: int, limit: float
) -> Disclosure:
    """Measure a call of one of a maker's `tools`, up to `limit` bits. Never raises for JSON values."""
    call = _CallMeasure(schema, known, limit)
    try:
        call.spend(log2(max(tools, 1)) + _CALL_BITS)
        canonical = call.spend_object(arguments, call.read(schema), depth=0)
    except _OverLimit:
        return Disclosure(bits=inf, arguments=arguments)
    return Disclosure(bits=call.bits, arguments=canonical)


class _CallMeasure:
    """The bits of one call so far. Methods return the canonical form of what they count."""

    def __init__(self, root: Any, known: KnownText, limit: float) -> None:
        self.bits = 0.0
        self._root = root
        self._known = known
        self._limit = limit
        self._schemas: dict[tuple[int, bool], ArgumentSchema] = {}
        self._last_time = begin_day(known.now)

    def spend(self, bits: float) -> None:
        self.bits += bits
        if not self.bits <= self._limit or self.bits == inf:
            raise _OverLimit

    def read(self, part: Any) -> ArgumentSchema:
        """Read each part of the schema once: a list may have thousands of elements."""
        is_second_time = bool(self._last_time.form)
        key = id(part), is_second_time
        if key not in self._schemas:
            schema = read_schema(part, self._root)
            self._schemas[key] = schema.expect_time() if is_second_time else schema
        return self._schemas[key]

    def spend_object(
        self, members: Mapping[str, Any], schema: ArgumentSchema, depth: int
    ) -> dict[str, Any]:
        canonical = {}
        for key, part in schema.properties.items():
            is_required = key in schema.required
            if key in members:
                self.spend(_REQUIRED_PRESENT if is_required else _PRESENT)
                canonical[key] = self._spend_value(members[key], part, depth + 1)
            else:
                self.spend(_REQUIRED_ABSENT if is_required else _ABSENT)
        undeclared = {key: part for key, part in members.items() if key not in canonical}
        return canonical | self._spend_undeclared(undeclared, schema.additional, depth)

    def _spend_undeclared(
        self, members: Mapping[str, Any], schema: Mapping[str, Any] | None, depth: int
    ) -> dict[str, Any]:
        more, no_more = (
            (_MORE_KEYS, _NO_MORE_KEYS)
            if schema is None
            else (_MORE_EXPECTED_KEYS, _NO_MORE_EXPECTED_KEYS)
        )
        self.spend(len(members) * more + no_more)
        canonical = {}
        for key in sorted(members):
            self.spend(measure_text(key, self._limit - self.bits))
            canonical[key] = self._spend_value(members[key], schema or _ANYTHING, depth + 1)
        return canonical

    def _spend_value(self, argument: Any, part: Any, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise _OverLimit
        schema = self.read(part)
        if _is_default(argument, schema):
            return self._spend_default(schema)
        before, last_time = self.bits, self._last_time
        canonical = self._spend_kind(argument, schema, depth)
        if canonical is not argument and _is_default(canonical, schema):
            self.bits, self._last_time = before, last_time
            return self._spend_default(schema)
        return canonical

    def _spend_default(self, schema: ArgumentSchema) -> Any:
        assert schema.default is not None
        self.spend(schema.kind_bits["default"])
        return schema.default[0]

    def _spend_kind(self, argument: Any, schema: ArgumentSchema, depth: int) -> Any:
        if isinstance(argument, Mapping):
            self.spend(schema.kind_bits["object"])
            return self.spend_object(argument, schema, depth)
        if isinstance(argument, list | tuple):
            self.spend(schema.kind_bits["list"] + measure_length(len(argument)))
            return [self._spend_value(element, schema.items, depth + 1) for element in argument]
        if isinstance(argument, bool) or argument is None:
            return self._spend_constant(argument, schema)
        if isinstance(argument, int | float):
            return self._spend_number(argument, schema)
        if isinstance(argument, str):
            return self._spend_text(argument, schema)
        raise _OverLimit

    def _spend_constant(self, constant: Any, schema: ArgumentSchema) -> Any:
        kind = {None: "null", True: "true", False: "false"}[constant]
        self.spend(min(schema.kind_bits[kind], _measure_choice(constant, schema)))
        return constant

    def _spend_number(self, argument: float, schema: ArgumentSchema) -> float:
        if not _is_spelled(argument):
            raise _OverLimit
        number = normalize_number(argument)
        spelling = spell_number(number)
        bits = schema.kind_bits
        self.spend(
            min(
                _measure_choice(number, schema),
                bits["number"] + measure_number(spelling, self._limit - self.bits),
                bits["number_word"] + self._known.measure_number(spelling),
                bits["number_returned"] + self._known.measure_returned(spelling),
                bits["public"] + measure_public_code(spelling, self._known.now),
            )
        )
        return number

    def _spend_text(self, argument: str, schema: ArgumentSchema) -> str:
        """Spend the cheapest kind. What is a choice or was returned is sent as it is spelled there."""
        left = self._limit - self.bits
        given = self._measure_given_text(argument, schema)
        text = argument if given < inf else normalize_text(argument)
        given = given if text == argument else self._measure_given_text(text, schema)
        bits = schema.kind_bits
        time = parse_time(text, self._known.now)
        words = self._known.measure_words(text, left)
        cheapest = min(
            given,
            bits["empty"] if not text else inf,
            bits["words"] + words,
            bits["part"] + self._known.measure_part(text, left),
            bits["time"] + (measure_time(time, self._last_time) if time else measure_clock(text)),
            bits["text"] + self._known.measure_literal(text, left),
            bits["public"] + measure_public_code(text, self._known.now),
        )
        if words == inf:
            phrase = self._known.measure_phrase(text, min(left, cheapest))
            cheapest = min(cheapest, bits["phrase"] + phrase)
        self.spend(cheapest)
        self._last_time = time or self._last_time
        return text

    def _measure_given_text(self, text: str, schema: ArgumentSchema) -> float:
        """Return the cost of a text that the receiver wrote: inf for any other."""
        return min(
            _measure_choice(text, schema),
            schema.kind_bits["described"] + schema.measure_described(text),
            schema.kind_bits["returned"] + self._known.measure_returned(text),
        )


def _measure_choice(argument: Any, schema: ArgumentSchema) -> float:
    if build_choice_key(argument) not in schema.choices:
        return inf
    return schema.kind_bits["choice"] + log2(len(schema.choices))


def _is_default(argument: Any, schema: ArgumentSchema) -> bool:
    return schema.default is not None and _is_same(argument, schema.default[0])


def _is_same(first: Any, second: Any, depth: int = 0) -> bool:
    """Compare JSON values: true is not 1, and the order of keys does not count."""
    if depth > _MAX_DEPTH:
        return False
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(
            _is_same(part, second[key], depth + 1) for key, part in first.items()
        )
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(
            _is_same(part, other, depth + 1) for part, other in zip(first, second, strict=True)
        )
    key = build_choice_key(first)
    return key is not None and key == build_choice_key(second)


def _is_spelled(number: float) -> bool:
    """Tell whether a budget could cover the number as JSON spells it."""
    if isinstance(number, int):
        return number.bit_length() <= _MAX_NUMBER_BITS
    return isfinite(number)
