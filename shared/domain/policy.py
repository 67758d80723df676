"""Confirmation rules: whether a call of the model may run without asking the user.

Text of others that entered a turn may contain a prompt injection. After it, a call that changes
something, or sends something to another app, runs only if the user's own message asks for it and
contains what the call sends. Where the rules are unsure, the user is asked.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from shared.domain.asking import Wish, actions_of, is_common, names, singular, wishes
from shared.domain.asking_words import GRAVE, GRAVE_THINGS, KIN, READS, some
from shared.domain.provenance import Source
from shared.domain.value import value
from shared.domain.wording import Wording, words

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.0{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?|\d\d:\d\d(:\d\d)?"
    r"|PT?[0-9DHMSW]{2,12}"
)
_GLUE = some("a an the my your to of in on for with by from and or new user manager tool")
_ID = some("id ids uid uuid ref key")
_WHO = some(
    """to cc bcc recipient attendee guest invitee participant member user username contact person
    collaborator assignee owner payee friend channel chat account group webhook target destination
    with"""
)
_WHERE = some("email mail address phone number mobile url uri link")
_SMALL = 10_000
"""A smaller number is an amount of something; a larger one may name somebody."""
_MOST_HARMLESS = 12
"""The most values that are no text: more of them could spell one."""


@value
class Call:
    """A call as the model wants it; `name` is the tool's own, `parameters` its JSON Schema."""

    name: str
    source: Source
    side_effect: bool
    parameters: Mapping[str, Any]
    arguments: Mapping[str, Any]


@value
class Ground:
    """What a call is judged by.

    `message` is the user's of this turn, `earlier` theirs of the same chat. `entered` lists the
    sources that the model has read, and `given` what each returned in this turn.
    """

    message: Wording
    earlier: Sequence[Wording] = ()
    entered: frozenset[Source] = frozenset()
    given: Sequence[tuple[Source, str]] = ()


@value
class Doubt:
    """The reason for a confirmation.

    The message does not ask for the call, or not for this `argument`.
    """

    reason: Literal["not_asked", "not_said"]
    argument: str = ""


def doubt(call: Call, ground: Ground) -> Doubt | None:
    """Return why a call needs a confirmation; None: it may run."""
    if call.side_effect:
        return _doubt_of_effect(call, ground) if ground.entered else None
    if call.source.kind == "app" and ground.entered - {call.source}:
        return _doubt_of_telling(call, ground)
    return None


def _doubt_of_effect(call: Call, ground: Ground) -> Doubt | None:
    """A change of the user's library is visible there and can be undone: the request is enough."""
    deed = _deed(call)
    own = call.source.kind == "library"
    asked = [wish for wish in wishes(ground.message) if own or wish.certain]
    if not any(deed.is_asked_by(wish, bare=not own and _is_bare(call)) for wish in asked):
        return Doubt(reason="not_asked")
    return None if own else _unsaid(call, ground, [ground.message], grave=deed.grave)


def _doubt_of_telling(call: Call, ground: Ground) -> Doubt | None:
    """Arguments of a read go to another maker: the user must name the app and say the texts."""
    said = [ground.message, *ground.earlier]
    things = [*_things(call), *words(call.source.name)]
    if not any(names(message, thing) for message in said for thing in things):
        return Doubt(reason="not_asked")
    return _unsaid(call, ground, said, grave=False)


@value
class _Deed:
    """What a tool does, as far as its name tells: the classes of its verb, and its things.

    A grave one must be asked for in all its words, any other by its verb and one of its things or
    by where it is done.
    """

    actions: frozenset[str]
    graves: frozenset[str]
    grave: bool
    things: Sequence[str]
    places: Sequence[str]

    def is_asked_by(self, wish: Wish, *, bare: bool) -> bool:
        """A `bare` call says nothing by which to know it: its thing must be the wish's own object."""
        does = self.actions | {KIN[action] for action in self.actions if action in KIN}
        named = wish.verb in self.things and bool(wish.actions)
        if not self.graves <= wish.actions or not (does & wish.actions or named):
            return False
        if bare and not any(map(wish.takes, self.things)):
            return False
        if self.grave:
            return all(map(wish.names, self.things or self.places))
        return any(map(wish.means, [*self.things, *self.places]))


def _deed(call: Call) -> _Deed:
    said = _name_words(call)
    verb = next((word for word in said if actions_of(word)), "")
    graves = frozenset[str]().union(*map(actions_of, said)) & GRAVE
    return _Deed(
        actions=actions_of(verb),
        graves=graves,
        grave=bool(graves or GRAVE_THINGS.intersection(said)),
        things=[w for w in said if w != verb and not actions_of(w) & GRAVE],
        places=words(call.source.name),
    )


def _things(call: Call) -> list[str]:
    return [word for word in _name_words(call) if word not in READS]


def _name_words(call: Call) -> list[str]:
    left_out = {*_GLUE, *words(call.source.name)}
    return [word for word in words(_CAMEL.sub(" ", call.name)) if word not in left_out]


@value
class _Leaf:
    """One plain value among a call's arguments, and what its schema says of it."""

    name: str
    schema: Mapping[str, Any]
    value: Any

    @property
    def _named(self) -> frozenset[str]:
        said = words(_CAMEL.sub(" ", self.name))
        return frozenset([*said, *map(singular, said)])

    @property
    def names_somebody(self) -> bool:
        return bool(self._named & (_WHO | _WHERE))

    @property
    def is_id(self) -> bool:
        return bool(self._named & _ID) and not self._named & _WHO

    @property
    def is_harmless(self) -> bool:
        """Tell what is no text: a yes or no, a small number, a time, a choice that does nothing."""
        if isinstance(self.value, bool):
            return True
        if isinstance(self.value, int | float):
            is_amount = abs(self.value) < _SMALL and round(self.value, 2) == self.value
            return is_amount and not self.is_id and not self.names_somebody
        if self.value in _choices(self.schema):
            return not any(map(actions_of, words(str(self.value))))
        return _DATE.fullmatch(str(self.value)) is not None


def _unsaid(call: Call, ground: Ground, said: Sequence[Wording], *, grave: bool) -> Doubt | None:
    harmless = 0
    for leaf in _leaves(call.arguments, call.parameters, ""):
        if _is_nothing(leaf) or any(_says(message, leaf.value) for message in said):
            continue
        harmless += leaf.is_harmless
        if leaf.is_harmless and not grave and harmless <= _MOST_HARMLESS:
            continue
        if grave or not (leaf.is_id and _is_given(leaf.value, call.source, ground)):
            return Doubt(reason="not_said", argument=leaf.name)
    return None


def _is_bare(call: Call) -> bool:
    leaves = _leaves(call.arguments, call.parameters, "")
    return all(_is_nothing(leaf) or leaf.is_harmless for leaf in leaves)


def _is_nothing(leaf: _Leaf) -> bool:
    return leaf.value in (None, "") or (
        "default" in leaf.schema and leaf.value == leaf.schema["default"]
    )


def _says(message: Wording, argument: Any) -> bool:
    if isinstance(argument, bool):
        return False
    if isinstance(argument, int | float):
        return message.says_number(argument)
    return message.says(str(argument))


def _leaves(argument: Any, schema: Any, name: str) -> Iterator[_Leaf]:
    """Walk through all arguments; a key that the schema does not name is text like any other."""
    schema = schema if isinstance(schema, Mapping) else {}
    if isinstance(argument, Mapping):
        declared = schema.get("properties", {})
        for key, part in argument.items():
            if key not in declared:
                yield _Leaf(name=name or key, schema={}, value=key)
            yield from _leaves(part, declared.get(key, {}), key)
    elif isinstance(argument, list | tuple):
        for part in argument:
            yield from _leaves(part, schema.get("items", {}), name)
    else:
        yield _Leaf(name=name, schema=schema, value=argument)


def _choices(schema: Mapping[str, Any]) -> list[Any]:
    parts = [schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return [
        choice for part in parts if isinstance(part, Mapping) for choice in part.get("enum", ())
    ]


def _is_given(wanted: Any, source: Source, ground: Ground) -> bool:
    """Tell whether the same source returned this id in a record that the owner's words describe.

    Only a record's own fields count: an id that stands in somebody's text is none that was given.
    """
    texts = (ground.message.rest, *ground.message.quoted)
    said = {singular(word) for text in texts for word in words(text)}
    return any(
        _telling(record) & said
        for origin, text in ground.given
        if origin == source
        for record in _records(_parsed(text))
        if str(wanted) in _plain(record)
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _records(found: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(found, Mapping):
        yield found
    if isinstance(found, Mapping | list):
        for part in found.values() if isinstance(found, Mapping) else found:
            yield from _records(part)


def _plain(record: Mapping[str, Any]) -> list[str]:
    return [str(part) for part in record.values() if isinstance(part, str | int)]


def _telling(record: Mapping[str, Any]) -> set[str]:
    """Return the words of a record by which somebody would mean this one and not another."""
    found = {word for part in _plain(record) for word in words(part)}
    return {singular(word) for word in found if len(word) > 2 and not is_common(word)}
